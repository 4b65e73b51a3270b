/* Rules files, on a place of a text trace. */
#include "trace/rules.h"
#include "trace/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char place[] = "0 write b var=\"struct account.balance\" in=deposit @/src/lib/bank.c:12\n";
    struct dh_err err = {0};
    struct dh_rules *r = dh_rules_parse("input", (const char *)bytes, n, &err);
    if (!r && !err.text)
        abort();
    struct dh_text *t = r && n < 4096 ? dh_text_new("place", place, sizeof place - 1, &err) : NULL;
    struct dh_event e;
    if (t && dh_text_next(t, &e)) {
        struct dh_run_host host = {0};
        dh_text_host(t, &host);
        struct dh_rules_filter *f = dh_rules_filter_new(r, &host);
        if (dh_rules_keeps(f, &e) != dh_rules_keeps(f, &e))
            abort();
        dh_rules_filter_free(f);
    }
    dh_text_free(t);
    dh_rules_free(r);
    dh_err_release(&err);
    return 0;
}
