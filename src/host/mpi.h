/* Messages between processes that mpirun started. Layer: host. Open MPI is loaded on demand (dlopen), so that it is no
 * dependency. One thread. */
#ifndef DH_HOST_MPI_H
#define DH_HOST_MPI_H

#include "host/err.h"
#include "host/file.h"

#include <stdbool.h>

struct dh_mpi;
/* NULL when this process was not started by mpirun, or Open MPI is missing. */
struct dh_mpi *dh_mpi_open(struct dh_err *err);
int dh_mpi_rank(const struct dh_mpi *m);
int dh_mpi_size(const struct dh_mpi *m);
bool dh_mpi_send(struct dh_mpi *m, int to, int tag, const void *bytes, size_t n);
/* The next message, if there is one; released by the caller. */
bool dh_mpi_poll(struct dh_mpi *m, int *from, int *tag, struct dh_bytes *out);
/* MPI_Finalize: waits for all processes. */
void dh_mpi_close(struct dh_mpi *m);

#endif
