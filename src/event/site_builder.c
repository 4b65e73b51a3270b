/* Builds site tables: interned strings, shared chain links, and the bytes the reader understands. Tool only. */
#include "event/site.h"
#include "event/site_format.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <string.h>

struct dh_site_builder {
    DH_VEC(struct dh_site) sites;
    DH_VEC(struct dh_chain) chains;
    DH_VEC(char) pool;
    struct dh_index by_text, by_link;
};

_Static_assert(sizeof(struct dh_site) == 60 && sizeof(struct dh_chain) == 20, "rows are the file format");

struct dh_site_builder *dh_site_builder_new(void)
{
    struct dh_site_builder *b = DH_NEW(struct dh_site_builder);
    dh_vec_push(&b->pool, '\0');
    return b;
}

void dh_site_builder_free(struct dh_site_builder *b)
{
    if (!b)
        return;
    dh_vec_release(&b->sites);
    dh_vec_release(&b->chains);
    dh_vec_release(&b->pool);
    dh_index_release(&b->by_text);
    dh_index_release(&b->by_link);
    free(b);
}

uint32_t dh_site_builder_string(struct dh_site_builder *b, const char *text)
{
    if (!text || !*text)
        return 0;
    uint32_t offset = dh_index_intern_text(&b->by_text, b->pool.at, b->pool.n, text);
    if (offset < b->pool.n)
        return offset;
    size_t n = strlen(text) + 1;
    if (b->pool.n + n >= UINT32_MAX)
        abort();
    dh_vec_reserve(&b->pool, n);
    memcpy(b->pool.at + offset, text, n);
    b->pool.n += n;
    return offset;
}

uint32_t dh_site_builder_add(struct dh_site_builder *b, const struct dh_site *site)
{
    dh_vec_push(&b->sites, *site);
    return (uint32_t)b->sites.n - 1;
}

uint32_t dh_site_builder_chain(struct dh_site_builder *b, const struct dh_chain *link)
{
    uint32_t i = dh_index_intern_row(&b->by_link, b->chains.at, b->chains.n, sizeof *link, link);
    if (i == b->chains.n)
        dh_vec_push(&b->chains, *link);
    return i;
}

struct dh_site_table dh_site_builder_view(const struct dh_site_builder *b)
{
    return (struct dh_site_table){b->sites.at,          b->chains.at,          b->pool.at,
                                  (uint32_t)b->sites.n, (uint32_t)b->chains.n, (uint32_t)b->pool.n};
}

static char *put(char *at, const void *bytes, size_t n)
{
    if (n)
        memcpy(at, bytes, n);
    return at + n;
}

void *dh_site_builder_write(const struct dh_site_builder *b, size_t *n)
{
    struct dh_site_header h = {.version = DH_SITES_VERSION,
                               .endianness = DH_SITES_ENDIANNESS,
                               .n_sites = (uint32_t)b->sites.n,
                               .n_chains = (uint32_t)b->chains.n,
                               .n_strings = (uint32_t)b->pool.n};
    memcpy(h.magic, DH_SITES_MAGIC, sizeof h.magic);
    size_t sites = b->sites.n * sizeof *b->sites.at, chains = b->chains.n * sizeof *b->chains.at;
    *n = sizeof h + sites + chains + b->pool.n;
    char *bytes = dh_xmalloc(*n);
    char *at = put(bytes, &h, sizeof h);
    at = put(at, b->sites.at, sites);
    at = put(at, b->chains.at, chains);
    put(at, b->pool.at, b->pool.n);
    return bytes;
}
