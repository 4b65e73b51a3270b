/* A campaign distributed over MPI ranks: rank 0 assigns parts and collects proofs, all ranks search. Layer: prove, over
 * host/mpi.h. A rank that is done asks for the next part, so that fast machines do more. */
#ifndef DH_PROVE_MPI_CAMPAIGN_H
#define DH_PROVE_MPI_CAMPAIGN_H

#include "host/mpi.h"
#include "prove/campaign.h"

/* As dh_campaign. Only on rank 0 are proofs reported to the host. */
bool dh_mpi_campaign(struct dh_mpi *mpi, struct dh_subject *s, const struct dh_campaign_options *o,
                     struct dh_goal *goals, size_t n, const struct dh_campaign_host *host,
                     struct dh_campaign_result *out, struct dh_err *err);

#endif
