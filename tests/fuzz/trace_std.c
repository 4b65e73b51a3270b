/* STD traces of other tools. */
#include "trace/import_std.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct dh_err err = {0};
    struct dh_meta meta = {0};
    struct dh_event e;
    enum dh_std_answer a;
    FILE *in = n ? fmemopen((void *)bytes, n, "r") : NULL;
    if (!in)
        return 0;
    struct dh_std *s = dh_std_new(in, "input", &meta);
    while ((a = dh_std_next(s, &e, &err)) == DH_STD_EVENT)
        if ((e.site != DH_NO_PLACE && e.site >= meta.places.n) || e.thread >= meta.threads.n)
            abort();
    if ((a == DH_STD_ERROR) != (err.text != NULL))
        abort();
    dh_std_is_one((const char *)bytes, n);
    dh_std_free(s);
    fclose(in);
    dh_meta_release(&meta);
    dh_err_release(&err);
    return 0;
}
