/* Outputs of a finding: the log, the tool, plain text. Layer: runtime, for report.c. Called under the report's lock
 * with all signals blocked, on the report's own stack. No libc; no descriptor stays open. */
#ifndef DH_RUNTIME_REPORT_OUTPUTS_H
#define DH_RUNTIME_REPORT_OUTPUTS_H

#include "event/finding_log.h"
#include "runtime/report/report.h"

/* Bytes of a log: header and process record, then from offset `finding` the finding or note. */
struct dh_report_bytes {
    const uint8_t *at;
    size_t n;
    size_t finding;
};

/* Appends to the log of this process (option `log`). False: not written, or there is none. */
bool dh_report_log(const struct dh_report_bytes *b);
/* The same for a note, without an error message. */
bool dh_report_log_note(const struct dh_report_bytes *b);
/* What a log of this process begins with: header and process record. */
void dh_report_log_begin(struct dh_log_out *o, uint64_t time);
/* Writes all bytes, also after EINTR: 0 or a negative errno. */
long dh_report_write_all(int fd, const uint8_t *at, size_t n);
/* Seconds since 1970; 0 in a sandbox. */
uint64_t dh_report_now(void);
/* Path of this process's log; false: there is none. */
bool dh_report_log_path(char *out, size_t n);

/* Runs the tool, which symbolises and prints. It does not print what is suppressed, nor what has the fingerprint of a
 * finding that this process has printed (the two halves of x += 1 are one to a reader), and nothing if the option
 * `print` is off. */
enum dh_report_answer { DH_REPORT_FAILED, DH_REPORT_PRINTED, DH_REPORT_PRINTED_BEFORE, DH_REPORT_SUPPRESSED };
enum dh_report_answer dh_report_run_tool(const struct dh_report_bytes *b);

/* Opens the log and keeps it open, before a sandbox forbids opening. */
void dh_report_log_keep_open(void);

/* Prints without the tool: no symbols. */
void dh_report_print_plain(const struct dh_log_finding *f);

#endif
