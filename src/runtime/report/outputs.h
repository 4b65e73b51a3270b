/* How a finding leaves the process: log, tool, plain text. Layer: runtime, of report.c. Called under the report's lock
 * with all signals blocked, on the report's own stack. No libc, no descriptors kept. */
#ifndef DH_RUNTIME_REPORT_OUTPUTS_H
#define DH_RUNTIME_REPORT_OUTPUTS_H

#include "event/finding_log.h"
#include "runtime/report/report.h"

/* The bytes of a log: header and process record, then from `finding` on the one finding or note. */
struct dh_report_bytes {
    const uint8_t *at;
    size_t n;
    size_t finding;
};

/* Appends to the file of this process that the option `log` names; nothing without it. False: not written. */
bool dh_report_log(const struct dh_report_bytes *b);
/* The same for a note; nothing is said when it cannot be written. */
bool dh_report_log_note(const struct dh_report_bytes *b);
/* What a log of this process begins with: header and process record. */
void dh_report_log_begin(struct dh_log_out *o, uint64_t time);
/* Seconds since 1970; 0 where asking is not allowed. */
uint64_t dh_report_now(void);
/* Where findings of this process go, or false when there is no log. */
bool dh_report_log_path(char *out, size_t n);

/* Lets the tool name the places and print. It does not print what is suppressed, nor what has the fingerprint of one
 * that this process has told (the two halves of x += 1 are one to a reader), and nothing when the option `print` says
 * so. */
enum dh_report_answer { DH_REPORT_FAILED, DH_REPORT_PRINTED, DH_REPORT_PRINTED_BEFORE, DH_REPORT_SUPPRESSED };
enum dh_report_answer dh_report_run_tool(const struct dh_report_bytes *b);
/* The tool that is known from the environment or from the link, or NULL. */
const char *dh_report_tool(void);

/* Opens the log for good, while that is possible. */
void dh_report_log_keep_open(void);

/* What the process itself can say. */
void dh_report_print_plain(const struct dh_log_finding *f);

#endif
