/* Runs the user's program as a child and ends as it ended. Layer: host. */
#ifndef DH_HOST_SUPERVISE_H
#define DH_HOST_SUPERVISE_H

#include "host/err.h"

#include <stdbool.h>

/* What to do while the program runs: called again and again, answers whether there was anything to do. */
struct dh_background_work {
    bool (*work)(void *arg);
    void *arg;
};

/* Starts the program and waits. Signals sent to us are passed on; those of the terminal reach it anyway. `meanwhile`
 * may be NULL. */
bool dh_supervise(const char *path, char **argv, const struct dh_background_work *meanwhile, int *status,
                  struct dh_err *err);
/* Ends this process as a child with that status ended: same exit code, or killed by the same signal. */
_Noreturn void dh_exit_like_child(int status);

#endif
