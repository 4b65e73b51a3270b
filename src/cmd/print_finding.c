/* print-finding: what the runtime starts in order to show a finding. Reads a findings log from standard input and
 * prints all of it at once, so that a failure leaves nothing half said. Not a command people type, but they may. */
#include "cmd/command.h"
#include "event/finding_log.h"
#include "finding/resolve.h"
#include "host/file.h"
#include "report/text.h"

#include <errno.h>
#include <unistd.h>

static unsigned add_findings(struct dh_log_reader *reader, struct dh_str *out)
{
    struct dh_resolver *resolver = dh_resolver_new();
    struct dh_log_record record;
    struct dh_log_process process = {0};
    bool known = false;
    unsigned n = 0;
    while (dh_log_next(reader, &record)) {
        struct dh_log_memory memory = {0};
        struct dh_log_finding from;
        if (record.type == DH_LOG_PROCESS)
            known = dh_log_read_process(&record, &process);
        else if (record.type == DH_LOG_FINDING && dh_log_read_finding(&record, &from, &memory)) {
            struct dh_finding f;
            dh_resolve(resolver, known ? &process : NULL, &from, &f);
            dh_text_finding(out, &f);
            dh_finding_release(&f);
            n++;
        }
        dh_log_memory_release(&memory);
    }
    dh_resolver_free(resolver);
    return n;
}

static bool write_out(const struct dh_str *s)
{
    for (size_t done = 0; done < s->n;) {
        ssize_t k = write(1, s->at + done, s->n - done);
        if (k < 0 && errno != EINTR)
            return false;
        done += k > 0 ? (size_t)k : 0;
    }
    return true;
}

int dh_main_print_finding(void)
{
    struct dh_err err = {0};
    struct dh_bytes bytes;
    struct dh_log_reader reader;
    struct dh_str out = {0};
    const char *why;
    if (!dh_file_read("/dev/stdin", &bytes, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    int code = DH_EXIT_USAGE;
    if (!dh_log_open(&reader, bytes.at, bytes.n, &why))
        dh_complain("print-finding: standard input: %s", why);
    else if (!add_findings(&reader, &out) && reader.damaged)
        dh_complain("print-finding: standard input: damaged at byte %zu", reader.first_damaged);
    else
        code = write_out(&out) ? DH_EXIT_OK : DH_EXIT_FAILURE;
    dh_str_release(&out);
    dh_bytes_release(&bytes);
    return code;
}
