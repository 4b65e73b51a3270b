#include "instrument/site_index.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Each index orders rows by file and one more column. */
typedef uint32_t column_of(const struct dh_site *row);

static uint32_t line_of(const struct dh_site *row)
{
    return row->line;
}

static uint32_t function_of(const struct dh_site *row)
{
    return row->function;
}

static int compare_row(const struct dh_site *row, column_of *column, uint32_t file, uint32_t value)
{
    if (row->file != file)
        return row->file < file ? -1 : 1;
    return column(row) < value ? -1 : column(row) > value;
}

struct ordering {
    const struct dh_site *rows;
    column_of *column;
};

static int compare_ids(const void *x, const void *y, void *ordering)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct ordering *o = ordering;
    int order = compare_row(&o->rows[a], o->column, o->rows[b].file, o->column(&o->rows[b]));
    return order ? order : a < b ? -1 : a > b;
}

static uint32_t *sorted(const struct dh_site_table *t, column_of *column)
{
    uint32_t *ids = dh_xmalloc((t->n_sites + 1) * sizeof *ids);
    for (uint32_t i = 0; i < t->n_sites; i++)
        ids[i] = i;
    if (t->n_sites)
        qsort_r(ids, t->n_sites, sizeof *ids, compare_ids, &(struct ordering){t->sites, column});
    return ids;
}

void dh_site_index_init(struct dh_site_index *x, const struct dh_site_table *t)
{
    x->by_line = sorted(t, line_of);
    x->by_function = sorted(t, function_of);
}

void dh_site_index_release(struct dh_site_index *x)
{
    free(x->by_line);
    free(x->by_function);
}

static struct dh_site_range find_run(const uint32_t *ids, const struct dh_site_table *t, column_of *column,
                                     uint32_t file, uint32_t value)
{
    uint32_t from = 0, to = t->n_sites;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (compare_row(&t->sites[ids[mid]], column, file, value) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    while (to < t->n_sites && !compare_row(&t->sites[ids[to]], column, file, value))
        to++;
    return (struct dh_site_range){ids + from, to - from};
}

struct dh_site_range dh_site_index_line(const struct dh_site_index *x, const struct dh_site_table *t, uint32_t file,
                                        uint32_t line)
{
    return find_run(x->by_line, t, line_of, file, line);
}

struct dh_site_range dh_site_index_function(const struct dh_site_index *x, const struct dh_site_table *t, uint32_t file,
                                            uint32_t function)
{
    return find_run(x->by_function, t, function_of, file, function);
}
