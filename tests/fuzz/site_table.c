/* Feeds arbitrary bytes to the site table's reader and walks whatever it accepts. */
#include "event/site.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static size_t walk_chain(const struct dh_site_table *t, uint32_t chain)
{
    size_t n = 0;
    for (; chain != DH_NO_CHAIN; chain = t->chains[chain].next)
        n += strlen(dh_site_string(t, t->chains[chain].file)) + strlen(dh_site_string(t, t->chains[chain].function));
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_site_table t;
    const char *why = NULL;
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (!dh_site_table_read(&t, bytes, n, &why)) {
        if (!why || !*why)
            abort();
        free(bytes);
        return 0;
    }
    volatile size_t sum = 0;
    for (uint32_t i = 0; i < t.n_sites && i < 4096; i++) {
        const struct dh_site *s = &t.sites[i];
        sum += strlen(dh_site_string(&t, s->file)) + strlen(dh_site_string(&t, s->name)) +
               strlen(dh_op_info(s->op)->name) + walk_chain(&t, s->inlined);
    }
    free(bytes);
    return 0;
}
