/* Suppression files, and their patterns against a text. */
#include "event/suppression.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    memcpy(text, bytes, n);
    text[n] = 0;
    struct dh_suppression_reader r = {.text = dh_cursor_of(text, n)};
    struct dh_suppression s;
    const char *why;
    for (enum dh_suppression_answer a; (a = dh_suppression_next(&r, &s, &why)) != DH_SUPPRESSION_END;)
        if (a == DH_SUPPRESSION_READ && s.n < 64) {
            dh_suppression_matches(&s, "struct account.balance");
            dh_suppression_matches(&s, n < 200 ? text : "src/bank.c");
        }
    free(text);
    return 0;
}
