/* Feeds arbitrary bytes to the readers of the embedded container and of the link recipe inside it. */
#include "driver/container.h"
#include "driver/recipe.h"

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

static void read_recipe(const uint8_t *input, size_t n)
{
    struct dh_err err = {0};
    struct dh_recipe r;
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (dh_recipe_read(&r, bytes, n, &err)) {
        struct dh_bytes again = dh_recipe_write(&r);
        dh_bytes_release(&again);
        dh_recipe_release(&r);
    }
    dh_err_release(&err);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    read_container(input, n);
    read_recipe(input, n);
    return 0;
}
