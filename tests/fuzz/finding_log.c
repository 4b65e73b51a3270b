/* Feeds arbitrary bytes to the reader of the findings log and walks whatever it accepts. */
#include "log_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static volatile size_t sum;

static void walk_stack(const struct dh_log_finding *f, const struct dh_log_stack *s)
{
    for (uint32_t i = 0; i < s->n_frames; i++)
        sum += s->frames[i].module == DH_LOG_NONE ? 1 : strlen(f->modules[s->frames[i].module].path);
}

static void walk(const struct dh_log_finding *f)
{
    sum += strlen(f->detector) + strlen(f->text) + strlen(f->key) + f->held[f->n_held ? f->n_held - 1 : 0];
    walk_stack(f, &f->allocated);
    for (uint32_t i = 0; i < f->n_accesses; i++) {
        walk_stack(f, &f->access[i].stack);
        sum += strlen(f->access[i].note) + strlen(dh_log_role_words(f->access[i].role)->op);
        sum += f->access[i].where.module == DH_LOG_NONE ? 0 : strlen(f->modules[f->access[i].where.module].path);
        sum += f->access[i].module == DH_LOG_NONE ? 0 : strlen(f->modules[f->access[i].module].path);
        for (uint32_t k = 0; k < f->access[i].n_locks; k++)
            walk_stack(f, &f->access[i].locks[k].taken);
    }
    for (uint32_t i = 0; i < f->n_threads; i++) {
        sum += strlen(f->threads[i].name);
        walk_stack(f, &f->threads[i].created);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_log_reader r;
    struct dh_log_record record;
    const char *why = NULL;
    uint8_t *bytes = dh_fuzz_log(input, n);
    if (!dh_log_open(&r, bytes, n, &why) && (!why || !*why))
        abort();
    while (!why && dh_log_next(&r, &record)) {
        struct dh_log_memory m = {0};
        struct dh_log_finding f;
        struct dh_log_process p;
        if (dh_log_read_process(&record, &p))
            sum += strlen(p.path) + strlen(p.original) + strlen(p.variant);
        const char *note = dh_log_read_note(&record);
        sum += note ? strlen(note) : 0;
        if (dh_log_read_finding(&record, &f, &m))
            walk(&f);
        dh_log_memory_release(&m);
    }
    free(bytes);
    return 0;
}
