#include "base/str.h"
#include "finding/finding.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The parts are joined by a byte that no name contains. */
void dh_finding_fingerprint(struct dh_finding *f)
{
    const char *names[8];
    size_t n = 0;
    for (; n < f->accesses.n && n < sizeof names / sizeof *names; n++)
        names[n] = f->accesses.at[n].site;
    qsort(names, n, sizeof *names, by_text);
    struct dh_str all = {0};
    dh_str_addf(&all, "%s", f->kind);
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&all, "\1%s", names[i]);
    /* A promise that was broken is told apart by which. */
    if (strcmp(f->kind, "annotation") == 0)
        dh_str_addf(&all, "\1%s", f->text);
    free(f->id);
    f->id = dh_format("%016llx", (unsigned long long)XXH3_64bits(all.at, all.n));
    dh_str_release(&all);
}
