/* Runs the user's program as a child, forwards signals and exits with its status. Layer: host. */
#ifndef DH_HOST_SUPERVISE_H
#define DH_HOST_SUPERVISE_H

#include "host/err.h"

#include <stdbool.h>

/* Called repeatedly while the program runs; returns whether there was work. */
struct dh_background_work {
    bool (*work)(void *arg);
    void *arg;
};

/* Called in the new process before it executes the program. */
struct dh_preparation {
    void (*prepare)(void *arg);
    void *arg;
};

/* Starts the program and waits. Signals sent to us are forwarded; the terminal's reach it anyway. `before` and
 * `meanwhile` may be NULL. */
bool dh_supervise(const char *path, char **argv, const struct dh_preparation *before,
                  const struct dh_background_work *meanwhile, int *status, struct dh_err *err);
/* Exits with the exit code of that wait status, or dies by the same signal. */
_Noreturn void dh_exit_like_child(int status);

#endif
