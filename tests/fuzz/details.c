/* What the store keeps of a finding as text: whatever is accepted is told in every form, and reads the same again. */
#include "finding/details.h"

#include "report/json.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void tell(const struct dh_finding *f)
{
    struct dh_str out = {0};
    dh_text_finding(&out, f);
    dh_report_json(&out, f);
    dh_str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_finding f, again;
    char *text = malloc(n + 1);
    memcpy(text, input, n);
    text[n] = 0;
    bool ok = dh_details_read(text, &f);
    if (ok) {
        tell(&f);
        char *once = dh_details_write(&f);
        if (!dh_details_read(once, &again))
            abort();
        char *twice = dh_details_write(&again);
        if (strcmp(once, twice) != 0)
            abort();
        free(once);
        free(twice);
        dh_finding_release(&again);
    }
    dh_finding_release(&f);
    free(text);
    return 0;
}
