/* Runs other programs, and code of ours that may crash in a forked child. Layer: host. */
#ifndef DH_HOST_PROCESS_H
#define DH_HOST_PROCESS_H

#include "base/str.h"
#include "host/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* A NULL-terminated argument vector under construction; strings it adds are copies. Zero-initialise. */
struct dh_argv {
    char **at;
    int n, cap;
};
void dh_argv_add(struct dh_argv *a, const char *word);
void dh_argv_addf(struct dh_argv *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dh_argv_add_all(struct dh_argv *a, char *const *words, int n);
void dh_argv_release(struct dh_argv *a);

/* Path of a program on PATH (or the path itself if it holds a slash), or NULL. Owned by the caller. */
char *dh_program_find(const char *name);

/* Runs and waits; output goes where ours goes, unless `out` is given, which then gets standard output.
 * `status` is as of waitpid. False only if the program could not be started, or time was over (host/deadline.h). */
bool dh_process_run(const struct dh_argv *a, struct dh_str *out, int *status, struct dh_err *err);

/* Exit code as a shell shows it. */
int dh_status_code(int status);
/* "exit code 3", "signal 11 (Segmentation fault)". Owned by the caller. */
char *dh_status_text(int status);

/* Runs fn in a forked child, so that a crash of a library on damaged input ends as one line. The child shares no
 * memory back but what dh_shared_alloc gave. `what` names the step for the message. With DEADHEAT_ONE_PROCESS set it
 * runs here instead, for debuggers. */
bool dh_child_run(const char *what, bool (*fn)(void *arg, struct dh_err *err), void *arg, struct dh_err *err);

/* Memory, all 0, that this process shares with the children that it forks; NULL with an error. */
void *dh_shared_alloc(size_t n, struct dh_err *err);
void dh_shared_free(void *memory, size_t n);

/* dh_child_run in two halves, for several children at once. */
struct dh_child {
    pid_t pid;
    int pipe;
    const char *what;
};
bool dh_child_start(struct dh_child *c, const char *what, bool (*fn)(void *arg, struct dh_err *err), void *arg,
                    struct dh_err *err);
bool dh_child_finish(struct dh_child *c, struct dh_err *err);

#endif
