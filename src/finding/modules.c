#include "finding/modules.h"

#include "base/alloc.h"
#include "base/str.h"
#include "host/demangle.h"
#include "image/container.h"

#include <stdlib.h>
#include <string.h>

struct dh_known_module {
    char *path;
    bool readable; /* not built again since the run */
    struct dh_bytes site_bytes, place_bytes;
    struct dh_site_table sites;
    struct dh_place_table places;
    char *(*name)(void *arg, uint64_t address); /* of a virtual module */
    void *arg;
    struct dh_bytes scope_bytes;
    struct dh_scope_table scopes;
};

struct dh_modules {
    DH_VEC(struct dh_known_module *) all;
    struct dh_symbolizer *symbols;
};

struct dh_modules *dh_modules_new(void)
{
    struct dh_modules *s = DH_NEW(struct dh_modules);
    s->symbols = dh_symbolizer_new();
    return s;
}

void dh_modules_free(struct dh_modules *s)
{
    for (size_t i = 0; i < s->all.n; i++) {
        dh_bytes_release(&s->all.at[i]->site_bytes);
        dh_bytes_release(&s->all.at[i]->place_bytes);
        dh_bytes_release(&s->all.at[i]->scope_bytes);
        free(s->all.at[i]->path);
        free(s->all.at[i]);
    }
    dh_vec_release(&s->all);
    dh_symbolizer_free(s->symbols);
    free(s);
}

static bool same_build(const struct dh_container *c, const uint8_t id[16])
{
    static const uint8_t none[16];
    return memcmp(id, none, sizeof none) == 0 || memcmp(id, c->id.bytes, sizeof none) == 0;
}

static void read_tables(struct dh_known_module *m, const struct dh_container *c)
{
    struct dh_err ignored = {0};
    const char *why;
    if (dh_container_read(c, DH_PART_SITES, &m->site_bytes, &ignored) &&
        !dh_site_table_read(&m->sites, m->site_bytes.at, m->site_bytes.n, &why))
        m->sites = (struct dh_site_table){.strings = ""};
    if (dh_container_find(c, DH_PART_PLACES) && dh_container_read(c, DH_PART_PLACES, &m->place_bytes, &ignored))
        dh_place_table_read(&m->places, m->place_bytes.at, m->place_bytes.n, &why);
    if (dh_container_find(c, DH_PART_SCOPES) && dh_container_read(c, DH_PART_SCOPES, &m->scope_bytes, &ignored))
        dh_scope_table_read(&m->scopes, m->scope_bytes.at, m->scope_bytes.n, &why);
    dh_err_release(&ignored);
}

static void open_container(struct dh_known_module *m, const uint8_t id[16])
{
    struct dh_err ignored = {0};
    struct dh_container c;
    m->readable = true;
    if (!dh_container_present(m->path))
        return;
    if (dh_container_open(&c, m->path, &ignored)) {
        m->readable = same_build(&c, id);
        if (m->readable)
            read_tables(m, &c);
        dh_container_release(&c);
    }
    dh_err_release(&ignored);
}

static struct dh_known_module *find_module(const struct dh_modules *s, const char *path)
{
    for (size_t i = 0; i < s->all.n; i++)
        if (strcmp(s->all.at[i]->path, path) == 0)
            return s->all.at[i];
    return NULL;
}

static struct dh_known_module *add_module(struct dh_modules *s, const char *path)
{
    struct dh_known_module *m = DH_NEW(struct dh_known_module);
    m->path = dh_strdup(path);
    m->sites.strings = m->places.chains.strings = "";
    dh_vec_push(&s->all, m);
    return m;
}

struct dh_known_module *dh_modules_get(struct dh_modules *s, const char *path, const uint8_t id[16])
{
    struct dh_known_module *m = find_module(s, path);
    if (!m)
        open_container(m = add_module(s, path), id);
    return m;
}

void dh_modules_put_virtual(struct dh_modules *s, const char *path, const struct dh_virtual_module *made)
{
    struct dh_known_module *m = find_module(s, path);
    if (!m)
        m = add_module(s, path);
    m->sites = made->sites;
    m->name = made->name;
    m->arg = made->arg;
    if (!m->sites.strings)
        m->sites.strings = "";
}

static bool find_virtual_variable(const struct dh_known_module *m, uint64_t address, struct dh_source_variable *out)
{
    out->name = m->name(m->arg, address);
    out->variable = dh_strdup(out->name);
    if (out->name[0])
        return true;
    dh_source_variable_release(out);
    return false;
}

const struct dh_site_table *dh_known_sites(const struct dh_known_module *m)
{
    return m->sites.n_sites ? &m->sites : NULL;
}

const struct dh_place_table *dh_known_places(const struct dh_known_module *m)
{
    return &m->places;
}

const struct dh_scope_table *dh_known_scopes(const struct dh_known_module *m)
{
    return &m->scopes;
}

/* Where the last folder of the path so far begins, which ".." removes; `n` when there is none. */
static size_t parent_start(const char *text, size_t n)
{
    size_t start = n > 1 ? n - 1 : 0;
    while (start && text[start - 1] != '/')
        start--;
    bool folder = n > 1 && text[n - 1] == '/' && strncmp(text + start, "../", 3) != 0 && n - start > 1;
    return folder ? start : n;
}

char *dh_path_as_compiled(const char *file, const char *directory)
{
    size_t k = directory ? strlen(directory) : 0;
    struct dh_str s = {0};
    if (k && strncmp(file, directory, k) == 0 && file[k] == '/')
        file += k + 1;
    while (*file) {
        size_t part = strcspn(file, "/"), n = part + (file[part] == '/');
        size_t parent = n == 3 && strncmp(file, "../", 3) == 0 ? parent_start(s.at ? s.at : "", s.n) : s.n;
        if (parent < s.n)
            s.n = parent;
        else if (!(n == 2 && strncmp(file, "./", 2) == 0))
            dh_str_add_n(&s, file, n);
        file += n;
    }
    return dh_str_take(&s);
}

static void add_frame(struct dh_finding_stack *out, const struct dh_source_frame *from, const char *module,
                      uint64_t offset)
{
    struct dh_finding_frame f = {
        .function = dh_demangle(from ? from->function : ""),
        .file = dh_path_as_compiled(from && from->file ? from->file : "", from ? from->directory : NULL),
        .line = from ? from->line : 0,
        .column = from ? from->column : 0,
        .module = dh_strdup(module),
        .offset = offset,
    };
    dh_vec_push(&out->frames, f);
}

void dh_known_frames(struct dh_modules *s, struct dh_known_module *m, uint64_t offset, struct dh_finding_stack *out)
{
    struct dh_source_frames places = {0};
    if (m->readable)
        dh_symbolize(s->symbols, m->path, offset - 1, &places);
    for (size_t i = 0; i < places.frames.n; i++)
        add_frame(out, &places.frames.at[i], m->path, offset);
    if (!places.frames.n)
        add_frame(out, NULL, m->path, offset);
    dh_source_frames_release(&places);
}

bool dh_known_variable_extent(struct dh_modules *s, struct dh_known_module *m, uint64_t offset, uint64_t *at,
                              uint64_t *size)
{
    return m->readable && dh_symbolize_variable_extent(s->symbols, m->path, offset, at, size);
}

bool dh_known_variable(struct dh_modules *s, struct dh_known_module *m, uint64_t offset, struct dh_source_variable *out)
{
    *out = (struct dh_source_variable){0};
    if (m->name)
        return find_virtual_variable(m, offset, out);
    return m->readable && dh_symbolize_variable_at(s->symbols, m->path, offset, out);
}
