/* print-finding [--suppressions=FILE] [--quiet]: what the runtime starts in order to show a finding. Reads a findings
 * log from standard input and prints all of it at once, so that a failure leaves nothing half said. Where everything is
 * suppressed nothing is printed, and the exit code names the suppression. Not a command people type, but they may. */
#include "cmd/command.h"
#include "event/finding_log.h"
#include "finding/resolve.h"
#include "finding/suppress.h"
#include "host/file.h"
#include "report/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct answer {
    struct dh_suppressions suppressions;
    struct dh_str out;
    unsigned told, suppressed, by; /* by: the last suppression that matched */
};

static void answer_finding(struct answer *a, const struct dh_finding *f)
{
    const struct dh_suppression *s = dh_suppressions_find(&a->suppressions, f);
    if (s) {
        a->suppressed++;
        a->by = s->index;
    } else {
        a->told++;
        dh_text_finding(&a->out, f);
    }
}

static unsigned add_findings(struct dh_log_reader *reader, struct answer *answer)
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
            answer_finding(answer, &f);
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

static int suppressed_code(const struct answer *a)
{
    unsigned code = DH_SUPPRESSED_FROM + a->by;
    return (int)(code < DH_SUPPRESSED_LAST ? code : DH_SUPPRESSED_LAST);
}

/* The runtime has told about lines that are malformed, and about a file that cannot be read. */
static bool read_words(int argc, char **argv, struct answer *a, bool *quiet)
{
    static const char suppressions[] = "--suppressions=";
    for (int i = 1; i < argc; i++) {
        struct dh_err ignored = {0};
        if (strcmp(argv[i], "--quiet") == 0)
            *quiet = true;
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
    bool quiet = false;
    /* The runtime starts us with every signal blocked. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!read_words(argc, argv, &answer, &quiet)) {
        dh_complain("print-finding: for the runtime's use; takes --suppressions=FILE and --quiet");
        return DH_EXIT_USAGE;
    }
    if (!dh_file_read("/dev/stdin", &bytes, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    int code = DH_EXIT_USAGE;
    if (!dh_log_open(&reader, bytes.at, bytes.n, &why))
        dh_complain("print-finding: standard input: %s", why);
    else if (!add_findings(&reader, &answer) && reader.damaged)
        dh_complain("print-finding: standard input: damaged at byte %zu", reader.first_damaged);
    else if (answer.suppressed && !answer.told)
        code = suppressed_code(&answer);
    else
        code = quiet || write_out(&answer.out) ? DH_EXIT_OK : DH_EXIT_FAILURE;
    dh_str_release(&answer.out);
    dh_suppressions_release(&answer.suppressions);
    dh_bytes_release(&bytes);
    return code;
}
