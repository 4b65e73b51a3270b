/* Errors as a chain of causes. Layer: host. Functions that can fail return bool or a pointer and take
 * `struct dh_err *` last; the innermost says what went wrong, each layer above adds one "while ...".
 * Only cmd/ prints. Zero-initialise; release when done. */
#ifndef DH_HOST_ERR_H
#define DH_HOST_ERR_H

#include <stdbool.h>

struct dh_err {
    char *text;    /* "what: where; what to do", then ", while ..." for each layer; NULL = no error */
    bool is_usage; /* bad arguments or input, not a failure of ours: decides the exit code */
    bool is_late;  /* time was over (host/deadline.h): neither the input's fault nor ours */
};

/* As dh_err_set, for bad arguments and input. */
bool dh_err_usage(struct dh_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `what` was ended because time was over. */
bool dh_err_late(struct dh_err *e, const char *what);
/* Both return false, so that `return dh_err_set(...)` reads well. */
bool dh_err_set(struct dh_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool dh_err_while(struct dh_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As dh_err_set, with ": " and the message of errno appended. */
bool dh_err_errno(struct dh_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dh_err_release(struct dh_err *e);

#endif
