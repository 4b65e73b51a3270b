#include "finding/trained_pairs.h"

#include "base/reader.h"
#include "base/str.h"
#include "host/file.h"

#include <stdlib.h>
#include <string.h>

/* Index of the pair, or where to insert it. */
static size_t index_of(const struct dh_trained_pairs *t, const char *pair, bool *there)
{
    size_t low = 0, high = t->pairs.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(t->pairs.at[middle], pair) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < t->pairs.n && strcmp(t->pairs.at[low], pair) == 0;
    return low;
}

static bool add_pair(struct dh_trained_pairs *t, const char *pair)
{
    bool there;
    size_t at = index_of(t, pair, &there);
    if (there)
        return false;
    dh_vec_reserve(&t->pairs, 1);
    memmove(t->pairs.at + at + 1, t->pairs.at + at, (t->pairs.n - at) * sizeof *t->pairs.at);
    t->pairs.at[at] = dh_strdup(pair);
    t->pairs.n++;
    return true;
}

static bool read_lines(struct dh_trained_pairs *t, const char *path, const char *text, size_t n, struct dh_err *err)
{
    struct dh_cursor all = dh_cursor_of(text, n), line;
    while (dh_cursor_next_line(&all, &line)) {
        struct dh_span whole = dh_cursor_rest(&line);
        if (!whole.n || *whole.at == '#')
            continue;
        if (!dh_cursor_take_until(&line, '\t').n || !dh_cursor_take_literal(&line, "\t") || dh_cursor_is_end(&line))
            return dh_err_set(err, "%s:%u: expected two sites with a tab between them", path, line.line);
        char *pair = dh_strndup(whole.at, whole.n);
        add_pair(t, pair);
        free(pair);
    }
    return true;
}

bool dh_trained_pairs_read(struct dh_trained_pairs *t, const char *path, struct dh_err *err)
{
    struct dh_bytes b;
    *t = (struct dh_trained_pairs){0};
    if (!dh_file_exists(path))
        return true;
    if (!dh_file_read(path, &b, err))
        return false;
    bool ok = read_lines(t, path, (const char *)b.at, b.n, err);
    dh_bytes_release(&b);
    return ok;
}

bool dh_trained_pairs_write(const struct dh_trained_pairs *t, const char *path, struct dh_err *err)
{
    struct dh_str out = {0};
    dh_str_add(&out, "# pairs of accesses that other threads came between in runs that passed\n");
    for (size_t i = 0; i < t->pairs.n; i++)
        dh_str_addf(&out, "%s\n", t->pairs.at[i]);
    bool ok = dh_file_write(path, out.at, out.n, 0644, err);
    dh_str_release(&out);
    return ok;
}

void dh_trained_pairs_release(struct dh_trained_pairs *t)
{
    for (size_t i = 0; i < t->pairs.n; i++)
        free(t->pairs.at[i]);
    dh_vec_release(&t->pairs);
}

bool dh_trained_pairs_keep_finding(struct dh_trained_pairs *t, const struct dh_finding *f)
{
    bool known;
    if (strcmp(f->detector, "atomrace") || f->kind != DH_FINDING_ATOMICITY || f->level != DH_LEVEL_SUSPECTED ||
        f->accesses.n != 3)
        return true;
    char *pair = dh_format("%s\t%s", f->accesses.at[0].site, f->accesses.at[2].site);
    if (t->learning)
        t->added += add_pair(t, pair);
    index_of(t, pair, &known);
    t->suspected += !known;
    free(pair);
    return !known;
}
