#include "event/scope_table.h"

#include <string.h>

static bool refuse(const char **why, const char *text)
{
    if (why)
        *why = text;
    return false;
}

static bool rows_ok(const struct dh_scope_table *t)
{
    for (uint32_t i = 0; i < t->n_rows; i++) {
        const struct dh_scope_row *r = &t->rows[i];
        if ((uint64_t)r->first + r->reads + r->writes > t->n_names || (i && r->site < r[-1].site))
            return false;
    }
    return true;
}

static bool comes_before(const struct dh_flow_row *r, uint32_t read, uint32_t lock)
{
    return r->read != read ? r->read < read : r->lock < lock;
}

static bool flows_ok(const struct dh_scope_table *t)
{
    for (uint32_t i = 1; i < t->n_flows; i++)
        if (!comes_before(&t->flows[i - 1], t->flows[i].read, t->flows[i].lock))
            return false;
    return true;
}

bool dh_scope_table_read(struct dh_scope_table *t, const void *bytes, size_t n, const char **why)
{
    struct dh_scope_header h;
    *t = (struct dh_scope_table){0};
    if (!bytes || n < sizeof h || (uintptr_t)bytes % 4)
        return refuse(why, "table of scopes is cut short");
    memcpy(&h, bytes, sizeof h);
    if (h.magic != DH_SCOPES_MAGIC || h.version != DH_SCOPES_VERSION)
        return refuse(why, "table of scopes is of another version");
    uint64_t rows = (uint64_t)h.n_rows * sizeof(struct dh_scope_row), names = (uint64_t)h.n_names * sizeof(uint32_t);
    uint64_t flows = (uint64_t)h.n_flows * sizeof(struct dh_flow_row);
    if (sizeof h + rows + names + flows != n)
        return refuse(why, "table of scopes has a wrong size");
    const char *at = (const char *)bytes + sizeof h;
    struct dh_scope_table r = {.rows = (const void *)at,
                               .names = (const void *)(at + rows),
                               .flows = (const void *)(at + rows + names),
                               .n_rows = h.n_rows,
                               .n_names = h.n_names,
                               .n_flows = h.n_flows};
    if (!rows_ok(&r) || !flows_ok(&r))
        return refuse(why, "table of scopes has a row that is out of place");
    *t = r;
    return true;
}

/* The first row whose site is at least that. */
static uint32_t lower(const struct dh_scope_table *t, uint32_t site)
{
    uint32_t low = 0, high = t->n_rows;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->rows[mid].site < site)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_call(const struct dh_scope_row *r, const struct dh_site_table *sites, const struct dh_chain *c,
                    const struct dh_site_table *from)
{
    return r->line == c->line && r->column == c->column &&
           strcmp(dh_site_string(sites, r->function), dh_site_string(from, c->function)) == 0;
}

const struct dh_scope_row *dh_scope_find(const struct dh_scope_table *t, const struct dh_site_table *sites,
                                         uint32_t site, uint32_t chain, const struct dh_site_table *from)
{
    uint32_t at = lower(t, site);
    if (site != DH_NO_SITE && at < t->n_rows && t->rows[at].site == site)
        return &t->rows[at];
    uint32_t calls = lower(t, DH_NO_SITE);
    for (; chain != DH_NO_CHAIN && chain < from->n_chains; chain = from->chains[chain].next)
        for (uint32_t i = calls; i < t->n_rows; i++)
            if (is_call(&t->rows[i], sites, &from->chains[chain], from))
                return &t->rows[i];
    return NULL;
}

static uint32_t lower_flow(const struct dh_scope_table *t, uint32_t read, uint32_t lock)
{
    uint32_t low = 0, high = t->n_flows;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (comes_before(&t->flows[mid], read, lock))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint32_t dh_flow_find(const struct dh_scope_table *t, uint32_t read, uint32_t lock)
{
    uint32_t at = lower_flow(t, read, lock);
    return at < t->n_flows && t->flows[at].read == read && t->flows[at].lock == lock ? t->flows[at].how : 0;
}

const struct dh_flow_row *dh_flow_wait(const struct dh_scope_table *t, uint32_t lock_call, unsigned n)
{
    for (uint32_t i = lower_flow(t, lock_call, 0); i < t->n_flows && t->flows[i].read == lock_call; i++)
        if (t->flows[i].how & DH_FLOW_WAITS && n-- == 0)
            return &t->flows[i];
    return NULL;
}
