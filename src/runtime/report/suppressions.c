#include "runtime/report/suppressions.h"

#include "event/suppression.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

struct row {
    struct dh_suppression s;
    _Atomic uint32_t count;
};

static struct row *rows;
static unsigned n_rows;
static const char *path;
static bool all_have_codes; /* the tool's exit code can name every row */

static const char *absolute(const char *name)
{
    static char whole[PATH_MAX];
    if (name[0] == '/')
        return name;
    long n = dh_sys_getcwd(whole, sizeof whole);
    if (n <= 0 || (size_t)n + dh_text_length(name) + 1 > sizeof whole)
        return name;
    whole[n - 1] = '/';
    dh_text_copy(whole + n, sizeof whole - (size_t)n, name);
    return whole;
}

static char *read_file(const char *name, size_t *n)
{
    char scratch[32];
    long fd = dh_sys_open(name, O_RDONLY | O_CLOEXEC, 0), size = fd, got = 0;
    char *text = NULL;
    if (fd >= 0) {
        size = dh_syscall3(SYS_lseek, fd, 0, SEEK_END);
        dh_syscall3(SYS_lseek, fd, 0, SEEK_SET);
        text = size >= 0 ? dh_alloc_forever((size_t)size + 1) : NULL;
        for (*n = 0; text && *n < (size_t)size; *n += (size_t)got)
            if ((got = dh_syscall3(SYS_read, fd, (long)(text + *n), size - (long)*n)) <= 0)
                break;
        dh_sys_close((int)fd);
    }
    long failed = size < 0 ? size : got < 0 ? got : 0;
    if (failed)
        dh_print_stderr("deadheat: cannot read suppressions %s: %s\n", name,
                        dh_print_error((int)-failed, scratch, sizeof scratch));
    return failed ? NULL : text;
}

/* Twice: first for their number. */
static unsigned read_rows(const char *text, size_t n, struct row *out)
{
    struct dh_suppression_reader r = {.text = dh_cursor_of(text, n)};
    struct dh_suppression s;
    const char *why;
    unsigned found = 0;
    for (enum dh_suppression_answer a; (a = dh_suppression_next(&r, &s, &why)) != DH_SUPPRESSION_END;)
        if (a == DH_SUPPRESSION_MALFORMED) {
            if (!out)
                dh_print_stderr("deadheat: %s:%u: %s; the line is left out\n", path, s.line, why);
        } else if (out) {
            out[found++].s = s;
        } else {
            found++;
        }
    return found;
}

/* Prints malformed lines, or that the file cannot be read, in one line each. */
void dh_suppressions_start(void)
{
    size_t n;
    if (!dh_options.suppressions)
        return;
    path = absolute(dh_options.suppressions);
    const char *text = read_file(path, &n);
    unsigned count = text ? read_rows(text, n, NULL) : 0;
    rows = count ? dh_alloc_forever(count * sizeof *rows) : NULL;
    if (rows)
        n_rows = read_rows(text, n, rows);
    all_have_codes = n_rows <= DH_SUPPRESSED_LAST - DH_SUPPRESSED_FROM;
}

const char *dh_suppressions_path(void)
{
    return n_rows ? path : NULL;
}

static bool is_about(enum dh_suppression_type type, uint32_t kind)
{
    static const enum dh_suppression_type types[] = {
#define DH_FINDING_KIND(id, name, title, suppressed) DH_SUPPRESS_##suppressed,
#include "event/finding_kind.def"
#undef DH_FINDING_KIND
    };
    return type == types[kind] || type == DH_SUPPRESS_CALLED_FROM_LIB;
}

static bool matches_module(const struct dh_suppression *s, const struct dh_log_finding *f, uint32_t module)
{
    return module != DH_LOG_NONE && dh_suppression_matches(s, f->modules[module].path);
}

static bool matches(const struct dh_suppression *s, const struct dh_log_finding *f)
{
    if (!is_about(s->type, f->kind))
        return false;
    for (uint32_t i = 0; i < f->n_accesses; i++) {
        const struct dh_log_access *a = &f->access[i];
        if (a->place != DH_LOG_NONE && matches_module(s, f, a->module))
            return true;
        for (uint32_t k = 0; k < a->stack.n_frames; k++)
            if (matches_module(s, f, a->stack.frames[k].module))
                return true;
    }
    return false;
}

bool dh_suppressions_match(const struct dh_log_finding *f, unsigned *index)
{
    for (*index = 0; *index < n_rows; ++*index)
        if (matches(&rows[*index].s, f))
            return true;
    return false;
}

void dh_suppressions_count(unsigned index)
{
    if (n_rows)
        atomic_fetch_add(&rows[index < n_rows ? index : n_rows - 1].count, 1);
}

static void print_row(const struct row *row)
{
    char pattern[128];
    size_t n = row->s.n < sizeof pattern - 1 ? row->s.n : sizeof pattern - 1;
    dh_bytes_copy(pattern, row->s.pattern, n);
    pattern[n] = 0;
    dh_print("deadheat:   %u by %s:%s (line %u)\n", atomic_load(&row->count), dh_suppression_type_name(row->s.type),
             pattern, row->s.line);
}

void dh_suppressions_at_exit(void)
{
    uint32_t all = 0;
    if (!dh_options.print_suppressions && dh_options.verbosity < 1)
        return;
    for (unsigned i = 0; i < n_rows; i++)
        all += atomic_load(&rows[i].count);
    if (!all)
        return;
    dh_print("deadheat: %u finding%s suppressed by %s:\n", all, all == 1 ? "" : "s", path);
    for (unsigned i = 0; i < n_rows; i++)
        if (atomic_load(&rows[i].count))
            print_row(&rows[i]);
    if (!all_have_codes)
        dh_print("deadheat:   (those behind the %uth are counted as one)\n", DH_SUPPRESSED_LAST - DH_SUPPRESSED_FROM);
}
