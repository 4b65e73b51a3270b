#include "heal/all_sites.h"

#include "base/names.h"
#include "driver/derive.h"
#include "driver/libraries.h"

struct merging {
    struct dh_site_builder *out;
    struct dh_names names;
    bool past_program;
};

/* Where a place was inlined is not looked at. */
static void add_row(struct merging *m, const struct dh_site_table *t, struct dh_site row)
{
    uint32_t *strings[] = {&row.file, &row.function, &row.type,   &row.variable, &row.field,
                           &row.expr, &row.name,     &row.callee, &row.source,   &row.source_type};
    for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
        *strings[k] = dh_site_builder_string(m->out, dh_site_string(t, *strings[k]));
    row.inlined = DH_NO_CHAIN;
    dh_site_builder_add(m->out, &row);
}

static void add_table(void *arg, const struct dh_site_table *t)
{
    struct merging *m = arg;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const char *name = dh_site_string(t, t->sites[i].name);
        if (m->past_program && !dh_names_has(&m->names, name))
            add_row(m, t, t->sites[i]);
        dh_names_add(&m->names, name);
    }
    m->past_program = true;
}

struct dh_site_builder *dh_all_sites(const char *program, const struct dh_site_table *own, struct dh_err *err)
{
    struct merging m = {.out = dh_site_builder_of_table(own)};
    bool ok = dh_site_tables_each(program, add_table, &m, err);
    dh_names_release(&m.names);
    if (ok)
        return m.out;
    dh_site_builder_free(m.out);
    return NULL;
}
