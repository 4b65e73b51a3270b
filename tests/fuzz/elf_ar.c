/* Feeds arbitrary bytes to the readers of archives, ELF files and bitcode streams, as the link step does with inputs.
 */
#include "driver/object_bitcode.h"
#include "image/archive.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool look_at_section(void *arg, const struct dh_elf_section *s)
{
    volatile uint8_t *sum = arg;
    for (size_t i = 0; i < s->n; i++)
        *sum ^= s->bytes[i];
    *sum ^= (uint8_t)strlen(s->name);
    for (size_t at = 0, k; at < s->n && (k = dh_bitcode_stream_length(s->bytes + at, s->n - at)); at += k)
        *sum ^= dh_bitcode_hash_matches(s->bytes + at, k);
    return true;
}

static void look_at_symbol(void *arg, const struct dh_elf_symbol *s)
{
    *(volatile uint8_t *)arg ^= (uint8_t)strlen(s->name);
}

static void look_at_dynamic(void *arg, int64_t tag, const char *text)
{
    *(volatile uint8_t *)arg ^= (uint8_t)(tag + (int64_t)strlen(text));
}

static void look_at_elf(const uint8_t *bytes, size_t n, struct dh_err *err)
{
    struct dh_elf e;
    uint8_t sum = 0;
    if (!dh_elf_open(&e, "input", bytes, n, err))
        return;
    dh_elf_each_section(&e, look_at_section, &sum);
    dh_elf_each_symbol(&e, false, look_at_symbol, &sum);
    dh_elf_each_symbol(&e, true, look_at_symbol, &sum);
    dh_elf_each_dynamic(&e, look_at_dynamic, &sum);
    dh_elf_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_err err = {0};
    struct dh_archive a;
    uint8_t *bytes = malloc(n ? n : 1); /* exact size, so that reading past the end is seen */
    memcpy(bytes, input, n);
    if (dh_is_archive(bytes, n) && dh_archive_read(&a, "folder/input.a", bytes, n, &err)) {
        for (size_t i = 0; i < a.members.n; i++)
            if (a.members.at[i].bytes)
                look_at_elf(a.members.at[i].bytes, a.members.at[i].n, &err);
        dh_archive_release(&a);
    } else
        look_at_elf(bytes, n, &err);
    dh_err_release(&err);
    free(bytes);
    return 0;
}
