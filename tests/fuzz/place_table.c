/* Feeds arbitrary bytes to the reader of a variant's place table and looks up places in whatever it accepts. */
#include "event/place_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static volatile size_t sum;

static void look_up(const struct dh_place_table *t, uint32_t id)
{
    static const struct dh_site_table no_sites = {.strings = ""};
    const struct dh_site_table *from;
    uint32_t site, chain;
    if (!dh_place_find(t, &no_sites, id, &site, &chain, &from))
        return;
    for (; chain != DH_NO_CHAIN; chain = from->chains[chain].next)
        sum += strlen(dh_site_string(from, from->chains[chain].file)) +
               strlen(dh_site_string(from, from->chains[chain].function));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_place_table t;
    const char *why = NULL;
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (!dh_place_table_read(&t, bytes, n, &why) && (!why || !*why))
        abort();
    for (uint32_t i = 0; i < t.n_places && i < 4096; i++)
        look_up(&t, t.n_sites + i);
    look_up(&t, 0);
    look_up(&t, UINT32_MAX);
    free(bytes);
    return 0;
}
