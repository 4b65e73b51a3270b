/* print-finding [--suppressions=FILE] [--quiet] [--answer]: what the runtime starts in order to show a finding. Reads a
 * findings log from standard input and prints all of it at once, so that a failure leaves nothing half said. Where
 * everything is suppressed nothing is printed, and the exit code names the suppression. With --answer descriptor 3 gets
 * the fingerprint of the last one, eight bytes, and what the log has as reported before is not reported again. Not a
 * command people type, but they may. */
#include "cmd/command.h"
#include "event/finding_log.h"
#include "finding/resolve.h"
#include "finding/suppress.h"
#include "host/file.h"
#include "report/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_FD 3

struct answer {
    struct dh_suppressions suppressions;
    struct dh_str out;
    unsigned reported, suppressed, by; /* by: the last suppression that matched */
    struct dh_log_record before;       /* what was reported */
    uint64_t id;                       /* of the last one */
};

static void answer_finding(struct answer *a, const struct dh_finding *f)
{
    const struct dh_suppression *s = dh_suppressions_find(&a->suppressions, f);
    a->id = strtoull(f->id, NULL, 16);
    if (s) {
        a->suppressed++;
        a->by = s->index;
    } else {
        a->reported++;
        if (!dh_log_has_reported(&a->before, a->id))
            dh_text_finding(&a->out, f);
    }
}

/* It comes last. */
static void find_told(struct dh_log_reader reader, struct answer *answer)
{
    struct dh_log_record record;
    while (dh_log_next(&reader, &record))
        if (record.type == DH_LOG_REPORTED)
            answer->before = record;
}

static unsigned add_findings(struct dh_log_reader *reader, struct answer *answer)
{
    struct dh_finding_resolver *resolver = dh_resolver_new();
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
            answer_finding(answer, &f);
            dh_finding_release(&f);
            n++;
        }
        dh_log_memory_release(&memory);
    }
    dh_resolver_free(resolver);
    return n;
}

static bool write_out(int fd, const void *at, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = write(fd, (const char *)at + done, n - done);
        if (k < 0 && errno != EINTR)
            return false;
        done += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static int suppressed_code(const struct answer *a)
{
    unsigned code = DH_SUPPRESSED_FROM + a->by;
    return (int)(code < DH_SUPPRESSED_LAST ? code : DH_SUPPRESSED_LAST);
}

/* The runtime has reported malformed lines, and a file that cannot be read. */
static bool read_words(int argc, char **argv, struct answer *a, bool *quiet, bool *answers)
{
    static const char suppressions[] = "--suppressions=";
    for (int i = 1; i < argc; i++) {
        struct dh_err ignored = {0};
        if (strcmp(argv[i], "--quiet") == 0)
            *quiet = true;
        else if (strcmp(argv[i], "--answer") == 0)
            *answers = true;
        else if (dh_starts_with(argv[i], suppressions))
            dh_suppressions_read(&a->suppressions, argv[i] + strlen(suppressions), &ignored);
        else
            return false;
        dh_err_release(&ignored);
    }
    return true;
}

int dh_main_print_finding(int argc, char **argv)
{
    struct dh_err err = {0};
    struct dh_bytes bytes;
    struct dh_log_reader reader;
    struct answer answer = {0};
    const char *why;
    sigset_t none;
    bool quiet = false, answers = false;
    /* The runtime starts us with every signal blocked. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!read_words(argc, argv, &answer, &quiet, &answers)) {
        dh_notice("print-finding: for the runtime's use; takes --suppressions=FILE, --quiet and --answer");
        return DH_EXIT_USAGE;
    }
    if (!dh_file_read("/dev/stdin", &bytes, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    int code = DH_EXIT_USAGE;
    answer.before.type = DH_LOG_NOTE; /* that is, nothing */
    if (dh_log_open(&reader, bytes.at, bytes.n, &why) && answers)
        find_told(reader, &answer);
    if (!dh_log_open(&reader, bytes.at, bytes.n, &why))
        dh_notice("print-finding: standard input: %s", why);
    else if (!add_findings(&reader, &answer) && reader.damaged)
        dh_notice("print-finding: standard input: damaged at byte %zu", reader.first_damaged);
    else if (answer.suppressed && !answer.reported)
        code = suppressed_code(&answer);
    else
        code = quiet || write_out(STDOUT_FILENO, answer.out.at, answer.out.n) ? DH_EXIT_OK : DH_EXIT_FAILURE;
    if (answers && answer.id)
        write_out(ANSWER_FD, &answer.id, sizeof answer.id);
    dh_str_release(&answer.out);
    dh_suppressions_release(&answer.suppressions);
    dh_bytes_release(&bytes);
    return code;
}
