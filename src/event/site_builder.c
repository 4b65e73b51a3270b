/* Builds site tables: interned strings, shared chain links, and the bytes the reader understands. Tool only. */
#include "event/site.h"
#include "event/site_format.h"

#include "base/alloc.h"
#include "base/vec.h"

#include <string.h>

/* Open addressing; a slot holds index + 1, 0 = free. */
struct index {
    uint32_t *slot;
    uint32_t mask, n;
};

struct dh_site_builder {
    DH_VEC(struct dh_site) sites;
    DH_VEC(struct dh_chain) chains;
    DH_VEC(char) pool;
    struct index by_text, by_link;
};

_Static_assert(sizeof(struct dh_site) == 60 && sizeof(struct dh_chain) == 20, "rows are the file format");

static uint32_t hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

typedef uint32_t (*hash_of)(const struct dh_site_builder *b, uint32_t item);

static uint32_t hash_of_text(const struct dh_site_builder *b, uint32_t offset)
{
    return hash_bytes(b->pool.at + offset, strlen(b->pool.at + offset));
}

static uint32_t hash_of_link(const struct dh_site_builder *b, uint32_t i)
{
    return hash_bytes(&b->chains.at[i], sizeof b->chains.at[i]);
}

static void index_place(struct index *x, uint32_t hash, uint32_t item)
{
    uint32_t at = hash & x->mask;
    while (x->slot[at])
        at = (at + 1) & x->mask;
    x->slot[at] = item + 1;
}

static void index_add(struct dh_site_builder *b, struct index *x, uint32_t hash, uint32_t item, hash_of rehash)
{
    if (!x->slot || x->n * 2 > x->mask) {
        struct index wider = {NULL, x->slot ? x->mask * 2 + 1 : 1023, x->n};
        wider.slot = dh_xcalloc((size_t)wider.mask + 1, sizeof *wider.slot);
        for (uint32_t i = 0; x->slot && i <= x->mask; i++)
            if (x->slot[i])
                index_place(&wider, rehash(b, x->slot[i] - 1), x->slot[i] - 1);
        free(x->slot);
        *x = wider;
    }
    index_place(x, hash, item);
    x->n++;
}

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
    free(b->by_text.slot);
    free(b->by_link.slot);
    free(b);
}

uint32_t dh_site_builder_string(struct dh_site_builder *b, const char *text)
{
    if (!text || !*text)
        return 0;
    size_t n = strlen(text);
    uint32_t hash = hash_bytes(text, n);
    struct index *x = &b->by_text;
    for (uint32_t at = hash & x->mask; x->slot && x->slot[at]; at = (at + 1) & x->mask)
        if (!strcmp(b->pool.at + x->slot[at] - 1, text))
            return x->slot[at] - 1;
    if (b->pool.n + n + 1 >= UINT32_MAX)
        abort();
    uint32_t offset = (uint32_t)b->pool.n;
    dh_vec_reserve(&b->pool, n + 1);
    memcpy(b->pool.at + offset, text, n + 1);
    b->pool.n += n + 1;
    index_add(b, x, hash, offset, hash_of_text);
    return offset;
}

uint32_t dh_site_builder_add(struct dh_site_builder *b, const struct dh_site *site)
{
    dh_vec_push(&b->sites, *site);
    return (uint32_t)b->sites.n - 1;
}

uint32_t dh_site_builder_chain(struct dh_site_builder *b, const struct dh_chain *link)
{
    uint32_t hash = hash_bytes(link, sizeof *link);
    struct index *x = &b->by_link;
    for (uint32_t at = hash & x->mask; x->slot && x->slot[at]; at = (at + 1) & x->mask)
        if (!memcmp(&b->chains.at[x->slot[at] - 1], link, sizeof *link))
            return x->slot[at] - 1;
    uint32_t i = (uint32_t)b->chains.n;
    dh_vec_push(&b->chains, *link);
    index_add(b, x, hash, i, hash_of_link);
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
