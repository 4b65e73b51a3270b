/* Witnesses: whatever is accepted reads the same after it was written again. */
#include "prove/witness.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct dh_witness w, again;
    struct dh_err err = {0};
    char mark[33];
    size_t body;
    if (dh_witness_parse(&w, (const char *)bytes, n, mark, &body, &err)) {
        struct dh_str text = {0}, second = {0};
        dh_witness_print(&text, &w);
        dh_str_addf(&text, "mark %s\n", mark);
        if (!dh_witness_parse(&again, text.at, text.n, mark, &body, &err))
            __builtin_trap();
        dh_witness_print(&second, &again);
        dh_str_addf(&second, "mark %s\n", mark);
        if (strcmp(text.at, second.at) != 0)
            __builtin_trap();
        dh_str_release(&text);
        dh_str_release(&second);
        dh_witness_release(&again);
    }
    dh_witness_release(&w);
    dh_err_release(&err);
    return 0;
}
