#include "base/str.h"
#include "finding/finding.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

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
    size_t n = 0;
    for (; n < f->accesses.n && n < sizeof names / sizeof *names; n++)
        names[n] = f->accesses.at[n].site;
    qsort(names, n, sizeof *names, by_text);
    /* A cycle through one place has as many of it as threads happened to be in it. */
    if (strcmp(f->kind, "deadlock") == 0)
        n = unique(names, n);
    struct dh_str all = {0};
    dh_str_addf(&all, "%s", f->kind);
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&all, "\1%s", names[i]);
    /* A promise that was broken is told apart by which. */
    if (strcmp(f->kind, "annotation") == 0)
        dh_str_addf(&all, "\1%s", f->text);
    if (f->key[0])
        dh_str_addf(&all, "\2%s", f->key);
    free(f->id);
    f->id = dh_format("%016llx", (unsigned long long)XXH3_64bits(all.at, all.n));
    dh_str_release(&all);
}
