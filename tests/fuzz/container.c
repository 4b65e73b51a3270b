/* Feeds arbitrary bytes to the readers of the embedded container and of the link recipe inside it. */
#include "image/container.h"
#include "driver/link_recipe.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_container(const uint8_t *input, size_t n)
{
    struct dh_err err = {0};
    struct dh_container c;
    struct dh_bytes section = {.at = malloc(n ? n : 1), .n = n};
    memcpy(section.at, input, n);
    if (dh_container_parse(&c, "input", section, &err)) {
        for (size_t i = 0; i < c.parts.n; i++) {
            struct dh_bytes part;
            char name[9] = "";
            memcpy(name, c.parts.at[i].name, 8);
            if (c.parts.at[i].raw < 1 << 20 && dh_container_read(&c, name, &part, &err))
                dh_bytes_release(&part);
        }
        dh_container_release(&c);
    }
    dh_err_release(&err);
}

/* Makes every hash fit, as only so the code behind them is reached; places as in docs/formats/container.md. */
static void repair(uint8_t *bytes, size_t n)
{
    enum { N_PARTS = 16, HASH = 72, HEADER = 88 };
    const size_t row = sizeof(struct dh_container_part);
    uint32_t parts;
    if (n < HEADER)
        return;
    memcpy(&parts, bytes + N_PARTS, sizeof parts);
    if (parts > (n - HEADER) / row)
        return;
    for (uint32_t i = 0; i < parts; i++) {
        struct dh_container_part p;
        memcpy(&p, bytes + HEADER + i * row, row);
        if (p.offset <= n && p.stored <= n - p.offset)
            p.hash = dh_content_hash(bytes + p.offset, p.stored);
        memcpy(bytes + HEADER + i * row, &p, row);
    }
    memset(bytes + HASH, 0, sizeof(struct dh_id));
    struct dh_id head = dh_content_hash(bytes, HEADER + parts * row);
    memcpy(bytes + HASH, &head, sizeof head);
}

static void read_recipe(const uint8_t *input, size_t n)
{
    struct dh_err err = {0};
    struct dh_link_recipe r;
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (dh_link_recipe_read(&r, bytes, n, &err)) {
        struct dh_bytes again = dh_link_recipe_write(&r);
        dh_bytes_release(&again);
        dh_link_recipe_release(&r);
    }
    dh_err_release(&err);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    read_container(input, n);
    uint8_t *repaired = malloc(n ? n : 1);
    memcpy(repaired, input, n);
    repair(repaired, n);
    read_container(repaired, n);
    free(repaired);
    read_recipe(input, n);
    return 0;
}
