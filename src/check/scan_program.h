/* Static analysis of one program, from its file to findings. Layer: check. Call it in a child: LLVM's reader crashes on
 * some damaged input. */
#ifndef DH_CHECK_SCAN_PROGRAM_H
#define DH_CHECK_SCAN_PROGRAM_H

#include "finding/scan_results.h"
#include "model/library_models.h"

struct dh_scan_request {
    const char *path, *models; /* models: a file with more of library functions, or NULL */
    const struct dh_suppressions *suppressions;
    struct dh_scan_options options; /* until_ns: when all is to be over, what is found stored and printed, too */
    bool library;                   /* every exported function may be called by any number of threads */
    bool all;                       /* every pair of places, not only the first few of each variable */
};

/* The built-in models of library functions, and those of the file at `path`, which may be NULL. */
bool dh_scan_read_models(struct dh_library_models *m, const char *path, struct dh_err *err);
/* `use` gets the results, which end with the call. */
bool dh_scan_program(const struct dh_scan_request *q,
                     bool (*use)(void *arg, struct dh_scan_results *r, struct dh_err *), void *arg, struct dh_err *err);

/* A notice of what there was no time for: it is no suspicion, and not said to be right. */
void dh_scan_notice_left(const struct dh_scan *scan);

#endif
