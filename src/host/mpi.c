#include "host/mpi.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <stdlib.h>

/* MPI_Status as in Open MPI's libmpi.so.40. */
struct status {
    int source, tag, error, cancelled;
    size_t count;
};
enum { ANY = -1 };

struct dh_mpi {
    int (*init)(int *, char ***);
    int (*finalize)(void);
    int (*comm_rank)(void *, int *);
    int (*comm_size)(void *, int *);
    int (*send)(const void *, int, void *, int, int, void *);
    int (*recv)(void *, int, void *, int, int, void *, struct status *);
    int (*iprobe)(int, int, void *, int *, struct status *);
    int (*get_count)(const struct status *, void *, int *);
    void *world, *byte;
    int rank, size;
};

static bool find_all(struct dh_mpi *m, void *library, struct dh_err *err)
{
    const struct {
        const char *name;
        void **to;
    } wanted[] = {
        {"MPI_Init", (void **)&m->init},           {"MPI_Finalize", (void **)&m->finalize},
        {"MPI_Comm_rank", (void **)&m->comm_rank}, {"MPI_Comm_size", (void **)&m->comm_size},
        {"MPI_Send", (void **)&m->send},           {"MPI_Recv", (void **)&m->recv},
        {"MPI_Iprobe", (void **)&m->iprobe},       {"MPI_Get_count", (void **)&m->get_count},
        {"ompi_mpi_comm_world", &m->world},        {"ompi_mpi_byte", &m->byte},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*wanted[i].to = dlsym(library, wanted[i].name)))
            return dh_err_set(err, "libmpi.so.40 is not Open MPI's: it has no %s", wanted[i].name);
    return true;
}

struct dh_mpi *dh_mpi_open(struct dh_err *err)
{
    if (!getenv("OMPI_COMM_WORLD_SIZE"))
        return dh_err_set(err, "not started by Open MPI's mpirun"), NULL;
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return dh_err_set(err, "Open MPI is not to be had: %s", dlerror()), NULL;
    struct dh_mpi *m = DH_NEW(struct dh_mpi);
    bool ok = find_all(m, library, err);
    if (ok && (m->init(NULL, NULL) || m->comm_rank(m->world, &m->rank) || m->comm_size(m->world, &m->size)))
        ok = dh_err_set(err, "Open MPI does not start");
    if (ok)
        return m;
    free(m);
    return NULL;
}

int dh_mpi_rank(const struct dh_mpi *m)
{
    return m->rank;
}

int dh_mpi_size(const struct dh_mpi *m)
{
    return m->size;
}

bool dh_mpi_send(struct dh_mpi *m, int to, int tag, const void *bytes, size_t n)
{
    return m->send(bytes, (int)n, m->byte, to, tag, m->world) == 0;
}

bool dh_mpi_poll(struct dh_mpi *m, int *from, int *tag, struct dh_bytes *out)
{
    struct status s = {0};
    int there = 0, n = 0;
    *out = (struct dh_bytes){0};
    if (m->iprobe(ANY, ANY, m->world, &there, &s) || !there || m->get_count(&s, m->byte, &n))
        return false;
    out->at = dh_xcalloc((size_t)n + 1, 1);
    out->n = (size_t)n;
    *from = s.source;
    *tag = s.tag;
    if (m->recv(out->at, n, m->byte, s.source, s.tag, m->world, &s) == 0)
        return true;
    dh_bytes_release(out);
    return false;
}

void dh_mpi_close(struct dh_mpi *m)
{
    if (m)
        m->finalize();
    free(m);
}
