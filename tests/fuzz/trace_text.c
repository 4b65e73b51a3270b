/* Text traces: whatever is accepted is fed to every detector, printed, and what was printed is read again. */
#include "base/str.h"
#include "trace/feed.h"
#include "trace/text.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { LARGE = 1 << 16 };

static void heard(void *arg, const char *detector, const void *suspicion)
{
    (void)arg;
    (void)detector;
    (void)suspicion;
}

static void walk(struct dh_text *t, struct dh_str *printed)
{
    struct dh_err err = {0};
    struct dh_run_host host = {.found = heard};
    struct dh_event e;
    dh_detector_list all = {0};
    dh_text_host(t, &host);
    dh_detectors_parse("all", &all, &err);
    struct dh_feed *f = dh_feed_new(NULL, &host, &all, NULL, &err);
    while (dh_text_next(t, &e)) {
        dh_text_print(printed, &host, &e);
        if (f && (e.arg < LARGE || e.kind == DH_EVENT_ATOMIC)) /* who writes terabytes waits for them */
            dh_feed_event(f, &e);
    }
    if (f)
        dh_feed_end(f);
    dh_feed_free(f);
    dh_err_release(&err);
    dh_vec_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct dh_err err = {0};
    struct dh_str printed = {0};
    struct dh_text *t = dh_text_new("input", (const char *)bytes, n, &err);
    if (t) {
        walk(t, &printed);
        struct dh_text *again = dh_text_new("printed", printed.at ? printed.at : "", printed.n, &err);
        if (!again)
            abort();
        dh_text_free(again);
    } else if (!err.text) {
        abort();
    }
    dh_text_free(t);
    dh_str_release(&printed);
    dh_err_release(&err);
    return 0;
}
