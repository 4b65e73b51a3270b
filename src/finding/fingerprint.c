/* Fingerprints: the identity of a finding across runs and builds (rules in finding/finding.h). */
#include "base/str.h"
#include "finding/finding.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_deadlock(const struct dh_finding *f)
{
    return f->kind == DH_FINDING_DEADLOCK;
}

static bool takes_locks(const struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        if (dh_finding_takes_lock(&f->accesses.at[i]))
            return true;
    return false;
}

static bool is_wait(const struct dh_finding *f)
{
    return f->kind == DH_FINDING_CRITICAL_WAIT || f->kind == DH_FINDING_INDEFINITE_WAIT ||
           f->kind == DH_FINDING_LOST_WAKEUP;
}

/* Of a deadlock only the acquisitions of locks: threads that join the deadlocked ones are not known when it is only
 * suspected. Of a wait only the wait itself, which comes first: other waiters and signallers differ from run to run. */
static size_t names_of(const struct dh_finding *f, const char **names, size_t most)
{
    bool locks_only = is_deadlock(f) && takes_locks(f);
    if (is_wait(f))
        most = 1;
    size_t n = 0;
    for (size_t i = 0; i < f->accesses.n && n < most; i++)
        if (!locks_only || dh_finding_takes_lock(&f->accesses.at[i]))
            names[n++] = f->accesses.at[i].site;
    return n;
}

/* A cycle through one site has it once for each thread in the cycle. */
static size_t unique(const char **names, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

/* The parts are joined by a byte that no name contains. */
void dh_finding_fingerprint(struct dh_finding *f)
{
    const char *names[8];
    size_t n = names_of(f, names, sizeof names / sizeof *names);
    qsort(names, n, sizeof *names, by_text);
    if (is_deadlock(f))
        n = unique(names, n);
    struct dh_str all = {0};
    dh_str_addf(&all, "%s", dh_finding_kind_name(f->kind));
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&all, "\1%s", names[i]);
    /* Violated annotations differ by their text. */
    if (f->kind == DH_FINDING_ANNOTATION)
        dh_str_addf(&all, "\1%s", f->text);
    if (f->key[0])
        dh_str_addf(&all, "\2%s", f->key);
    free(f->id);
    f->id = dh_format("%016llx", (unsigned long long)XXH3_64bits(all.at, all.n));
    dh_str_release(&all);
}
