#include "trace/source_names.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct dh_source_names {
    const struct dh_meta *meta; /* NULL for a text */
    struct dh_text *text;
    struct dh_site_builder *places; /* those of the metadata, as far as they were asked for */
    uint32_t n_places;
    struct dh_site_table table;
};

struct dh_source_names *dh_source_names_new(struct dh_source *s)
{
    struct dh_source_names *m = DH_NEW(struct dh_source_names);
    m->meta = dh_source_meta(s);
    m->text = dh_source_text(s);
    m->places = dh_site_builder_new();
    return m;
}

void dh_source_names_free(struct dh_source_names *m)
{
    if (!m)
        return;
    dh_site_builder_free(m->places);
    free(m);
}

static void add_place(struct dh_source_names *m, const struct dh_meta_place *p)
{
    const char *letters = dh_op_info(p->op)->letters, *dot = strrchr(p->variable, '.');
    char *name = dh_format("%s:%s:%s:%s#%u", dh_basename(p->file), p->function, p->variable, letters, p->line);
    struct dh_site row = {.file = dh_site_builder_string(m->places, p->file),
                          .function = dh_site_builder_string(m->places, p->function),
                          .variable = dh_site_builder_string(m->places, p->variable),
                          .field = dh_site_builder_string(m->places, dot ? dot + 1 : ""),
                          .name = dh_site_builder_string(m->places, name),
                          .line = p->line,
                          .inlined = DH_NO_CHAIN,
                          .op = p->op};
    dh_site_builder_add(m->places, &row);
    free(name);
}

static const struct dh_site *place_of_meta(void *arg, uint32_t place, const struct dh_site_table **table)
{
    struct dh_source_names *m = arg;
    if (place >= m->meta->places.n)
        return NULL;
    if (place >= m->n_places) {
        for (; m->n_places < m->meta->places.n; m->n_places++)
            add_place(m, &m->meta->places.at[m->n_places]);
        m->table = dh_site_builder_view(m->places);
    }
    *table = &m->table;
    return &m->table.sites[place];
}

/* A program may have begun to be recorded before it had listed its modules; then they come later. */
static bool is_recorded(const struct dh_meta *m)
{
    return m->modules.n || m->program;
}

bool dh_source_names_host(struct dh_source_names *m, struct dh_run_host *words)
{
    *words = (struct dh_run_host){0};
    if (m->text) {
        dh_text_host(m->text, words);
        return true;
    }
    words->site = place_of_meta;
    words->arg = m;
    return !is_recorded(m->meta);
}

char *dh_source_names_address(void *meaning, uint64_t addr)
{
    const struct dh_source_names *m = meaning;
    return m->text ? dh_text_name(m->text, addr) : dh_strdup("");
}
