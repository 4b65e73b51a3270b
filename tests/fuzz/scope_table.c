/* Feeds arbitrary bytes to the reader of what critical sections may access and looks sections up in whatever it
 * accepts. */
#include "event/scope_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static volatile size_t sum;

static void look_up(const struct dh_scope_table *t, uint32_t site, uint32_t chain)
{
    static const struct dh_chain chains[] = {{.function = 1, .line = 2, .column = 3, .next = DH_NO_CHAIN},
                                             {.function = 5, .line = 4, .column = 1, .next = 0}};
    static const struct dh_site_table sites = {
        .strings = "\0abc\0def", .n_strings = 9, .chains = chains, .n_chains = sizeof chains / sizeof *chains};
    const struct dh_scope_row *r = dh_scope_find(t, &sites, site, chain, &sites);
    for (uint32_t i = 0; r && i < r->reads + r->writes; i++)
        sum += strlen(dh_site_string(&sites, t->names[r->first + i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_scope_table t;
    const char *why = NULL;
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (!dh_scope_table_read(&t, bytes, n, &why) && (!why || !*why))
        abort();
    for (uint32_t i = 0; i < t.n_rows && i < 4096; i++)
        look_up(&t, t.rows[i].site, 1);
    for (uint32_t i = 0; i < t.n_flows && i < 4096; i++)
        sum += dh_flow_find(&t, t.flows[i].read, t.flows[i].lock);
    look_up(&t, 0, DH_NO_CHAIN);
    look_up(&t, DH_NO_SITE, 1);
    look_up(&t, UINT32_MAX - 1, 7);
    free(bytes);
    return 0;
}
