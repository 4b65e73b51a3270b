/* Findings logs all the way: whatever the reader accepts is named by the modules it mentions (the seed's is a real
 * program), fingerprinted, and told in every form. */
#include "log_input.h"

#include "finding/resolve.h"
#include "report/json.h"
#include "report/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void tell(struct dh_resolver *resolver, const struct dh_log_process *p, const struct dh_log_finding *from)
{
    struct dh_finding f;
    struct dh_str out = {0};
    dh_resolve(resolver, p, from, &f);
    if (strlen(f.id) != 16)
        abort();
    dh_text_finding(&out, &f);
    dh_report_json(&out, &f);
    dh_str_release(&out);
    dh_finding_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    static struct dh_resolver *resolver;
    struct dh_log_reader r;
    struct dh_log_record record;
    struct dh_log_process process;
    bool known = false;
    const char *why;
    uint8_t *bytes = dh_fuzz_log(input, n);
    if (!resolver)
        resolver = dh_resolver_new();
    for (bool ok = dh_log_open(&r, bytes, n, &why); ok && dh_log_next(&r, &record);) {
        struct dh_log_memory m = {0};
        struct dh_log_finding f;
        if (record.type == DH_LOG_PROCESS)
            known = dh_log_read_process(&record, &process);
        if (dh_log_read_finding(&record, &f, &m))
            tell(resolver, known ? &process : NULL, &f);
        dh_log_memory_release(&m);
    }
    free(bytes);
    return 0;
}
