/* Operation table and the reader of site tables. Allocates nothing and calls no library function, so that the
 * runtime can use it inside the checked program. */
#include "event/site.h"
#include "event/site_format.h"

static const struct dh_op_info ops[DH_OP_COUNT] = {
#define DH_OP(id, name, letters, group) {name, letters, DH_GROUP_##group},
#include "event/op.def"
#undef DH_OP
};

static const char *const group_names[DH_GROUP_COUNT] = {"access", "atomic", "memory", "alloc",   "free",
                                                        "sync",   "thread", "call",   "function"};

const struct dh_op_info *dh_op_info(unsigned op)
{
    return &ops[op < DH_OP_COUNT ? op : DH_OP_NONE];
}

const char *dh_group_name(enum dh_group group)
{
    return (unsigned)group < DH_GROUP_COUNT ? group_names[group] : "unknown";
}

const char *dh_site_string(const struct dh_site_table *t, uint32_t offset)
{
    return offset < t->n_strings ? t->strings + offset : "";
}

bool dh_site_is_element(const struct dh_site_table *t, const struct dh_site *s)
{
    const char *field = dh_site_string(t, s->field), *last = field;
    while (last[0] && last[1])
        last++;
    return s->flags & DH_SITE_ELEMENT && (!*field || *last == ']');
}

static bool refuse(const char **why, const char *text)
{
    if (why)
        *why = text;
    return false;
}

static bool header_ok(const struct dh_site_header *h, const char **why)
{
    for (size_t i = 0; i < sizeof h->magic; i++)
        if (h->magic[i] != DH_SITES_MAGIC[i])
            return refuse(why, "site table has a wrong magic");
    if (h->endianness != DH_SITES_ENDIANNESS)
        return refuse(why, "site table was written on a machine of other byte order");
    if (h->version != DH_SITES_VERSION)
        return refuse(why, "site table has an unknown version");
    return true;
}

static bool sites_ok(const struct dh_site_table *t)
{
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        const uint32_t strings[] = {s->file, s->function, s->type,   s->variable, s->field,
                                    s->expr, s->name,     s->callee, s->source,   s->source_type};
        for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
            if (strings[k] >= t->n_strings)
                return false;
        if (s->inlined != DH_NO_CHAIN && s->inlined >= t->n_chains)
            return false;
    }
    return true;
}

/* Links point to lower indices only: that is what makes a walk end. */
static bool chains_ok(const struct dh_site_table *t)
{
    for (uint32_t i = 0; i < t->n_chains; i++) {
        const struct dh_chain *c = &t->chains[i];
        if (c->file >= t->n_strings || c->function >= t->n_strings)
            return false;
        if (c->next != DH_NO_CHAIN && c->next >= i)
            return false;
    }
    return true;
}

bool dh_site_table_read(struct dh_site_table *t, const void *bytes, size_t n, const char **why)
{
    const struct dh_site_header *h = bytes;
    *t = (struct dh_site_table){.strings = ""};
    if (!bytes || n < sizeof *h)
        return refuse(why, "site table is cut short");
    if ((uintptr_t)bytes % 8)
        return refuse(why, "site table is not aligned");
    if (!header_ok(h, why))
        return false;
    uint64_t sites = (uint64_t)h->n_sites * sizeof(struct dh_site);
    uint64_t chains = (uint64_t)h->n_chains * sizeof(struct dh_chain);
    uint64_t total = sizeof *h + sites + chains + h->n_strings;
    if (total > n)
        return refuse(why, "site table is cut short");
    if (total < n)
        return refuse(why, "site table has bytes after its end");
    const char *at = (const char *)bytes + sizeof *h;
    struct dh_site_table r = {
        (const void *)at, (const void *)(at + sites), at + sites + chains, h->n_sites, h->n_chains, h->n_strings};
    if (!r.n_strings || r.strings[0] || r.strings[r.n_strings - 1])
        return refuse(why, "site table has a broken string pool");
    if (!sites_ok(&r))
        return refuse(why, "site table has a row that points outside it");
    if (!chains_ok(&r))
        return refuse(why, "site table has a broken inlining chain");
    *t = r;
    return true;
}
