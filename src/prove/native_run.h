/* A run of the subject as it was linked, with its detectors off and nobody scheduling it. Layer: prove. What it writes
 * to files stays its own where the system allows that (host/private_files.h). */
#ifndef DH_PROVE_NATIVE_RUN_H
#define DH_PROVE_NATIVE_RUN_H

#include "base/str.h"
#include "prove/subject.h"

struct dh_native_run {
    int status;               /* as of waitpid */
    bool in_time;             /* it ended by itself */
    bool hangs;               /* it did not: its threads wait for nothing but themselves */
    bool is_counted;          /* threads are known */
    uint32_t threads, others; /* that it created, and that its children did */
    uint64_t ns;
    struct dh_str output, errors; /* of standard output and error, the first part */
    struct dh_str where;          /* of one that did not end: where its threads were (host/live_places.h) */
};

/* `random`: with randomised addresses. False when it could not be started. Released by the caller. */
bool dh_native_run(const struct dh_subject *s, uint64_t patience_ns, bool random, struct dh_native_run *out,
                   struct dh_err *err);
void dh_native_run_release(struct dh_native_run *r);

/* The first part of a file in memory that a program wrote. */
void dh_output_read(int file, struct dh_str *out);

#endif
