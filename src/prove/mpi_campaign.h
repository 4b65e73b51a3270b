/* A campaign of many processes on many machines, started by mpirun: the first hands out parts and keeps what is proven,
 * all search. Layer: prove (host/mpi.h). Whoever is done asks for the next part, so that quick machines do more. */
#ifndef DH_PROVE_MPI_CAMPAIGN_H
#define DH_PROVE_MPI_CAMPAIGN_H

#include "host/mpi.h"
#include "prove/campaign.h"

/* As dh_campaign. On ranks other than 0 the host is told nothing of proofs: they are the first one's to tell. */
bool dh_mpi_campaign(struct dh_mpi *mpi, struct dh_subject *s, const struct dh_campaign_options *o,
                     struct dh_goal *goals, size_t n, const struct dh_campaign_host *host,
                     struct dh_campaign_result *out, struct dh_err *err);

#endif
