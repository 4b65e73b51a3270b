/* The functions that ours stand before. Layer: runtime. Filled once by dh_real_init: looked up lazily they would
 * wipe the program's dlerror. */
#ifndef DH_RUNTIME_REAL_H
#define DH_RUNTIME_REAL_H

#include <pthread.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

/* F(name, the version that new programs bind to, result, parameters). Old versions exist beside it, and asking for
 * one that is not there would make libc call the program's malloc for the error text. */
#define DH_REAL_FUNCTIONS(F)                                                                                           \
    F(pthread_create, "GLIBC_2.34", int, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))             \
    F(pthread_join, "GLIBC_2.34", int, (pthread_t, void **))                                                           \
    F(pthread_tryjoin_np, "GLIBC_2.34", int, (pthread_t, void **))                                                     \
    F(pthread_timedjoin_np, "GLIBC_2.34", int, (pthread_t, void **, const struct timespec *))                          \
    F(pthread_clockjoin_np, "GLIBC_2.34", int, (pthread_t, void **, clockid_t, const struct timespec *))               \
    F(pthread_detach, "GLIBC_2.34", int, (pthread_t))                                                                  \
    F(pthread_setname_np, "GLIBC_2.34", int, (pthread_t, const char *))                                                \
    F(thrd_create, "GLIBC_2.34", int, (thrd_t *, thrd_start_t, void *))                                                \
    F(thrd_join, "GLIBC_2.34", int, (thrd_t, int *))                                                                   \
    F(thrd_detach, "GLIBC_2.34", int, (thrd_t))                                                                        \
    F(prctl, "GLIBC_2.2.5", int, (int, ...))                                                                           \
    F(readlink, "GLIBC_2.2.5", ssize_t, (const char *, char *, size_t))                                                \
    F(readlinkat, "GLIBC_2.4", ssize_t, (int, const char *, char *, size_t))                                           \
    F(__readlink_chk, "GLIBC_2.4", ssize_t, (const char *, char *, size_t, size_t))                                    \
    F(realpath, "GLIBC_2.3", char *, (const char *, char *))                                                           \
    F(__realpath_chk, "GLIBC_2.4", char *, (const char *, char *, size_t))                                             \
    F(_exit, "GLIBC_2.2.5", void, (int))

struct dh_real {
#define DH_REAL_FIELD(name, version, result, parameters) result(*name) parameters;
    DH_REAL_FUNCTIONS(DH_REAL_FIELD)
#undef DH_REAL_FIELD
};

extern struct dh_real dh_real;

void dh_real_init(void);

#endif
