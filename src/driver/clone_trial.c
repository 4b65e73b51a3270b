#include "driver/clone_trial.h"

#include "base/alloc.h"
#include "ir/function_clone.h"
#include "ir/model_reader.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    struct dh_clone_trial *t;
    const struct dh_race_free *first;
    LLVMModuleRef m; /* with copies */
    LLVMValueRef *copies;
    struct dh_program p;
    uint64_t also;
};

/* ---- functions by number ---- */

static uint32_t find_function(const struct dh_program *p, LLVMValueRef f, uint32_t guess)
{
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (guess < p->functions.n && strcmp(dh_program_string(p, p->functions.at[guess].name), name) == 0)
        return guess;
    return dh_program_find_function(p, name);
}

uint8_t *dh_clonable_functions(LLVMModuleRef m, const struct dh_program *p)
{
    uint8_t *all = dh_xcalloc(p->functions.n, 1);
    uint32_t guess = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        uint32_t at = LLVMIsDeclaration(f) ? DH_NONE : find_function(p, f, guess);
        if (at == DH_NONE)
            continue;
        all[at] = dh_ir_can_clone(f);
        guess = at + 1;
    }
    return all;
}

static uint32_t size_of(LLVMValueRef f)
{
    uint32_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n += !LLVMIsADbgInfoIntrinsic(i);
    return n;
}

/* Finds the positions in the module of the functions to clone. */
static bool place(struct dh_clone_trial *t, LLVMModuleRef m, const struct dh_program *p,
                  const struct dh_function_clones *wanted)
{
    uint32_t guess = 0, placed = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        uint32_t at = find_function(p, f, guess);
        guess = at == DH_NONE ? guess : at + 1;
        for (uint32_t n = 0; n < wanted->copies.n; n++)
            if (wanted->copies.at[n] == at) {
                t->functions[n] = t->n_functions;
                placed++;
            }
        t->n_functions++;
        t->size += size_of(f);
    }
    return placed == wanted->copies.n;
}

static struct dh_program_clones view(const struct dh_clone_trial *t)
{
    return (struct dh_program_clones){.functions = t->functions,
                                      .redirects = t->redirects,
                                      .marks = t->marks,
                                      .n = t->n_copies,
                                      .n_redirects = t->n_redirects,
                                      .n_marks = t->n_marks};
}

/* ---- proofs in clones ---- */

/* What is proven in addition. */
static unsigned more(unsigned before, unsigned now)
{
    if (before & DH_PROVEN_RACE_FREE)
        now &= ~(unsigned)(DH_PROVEN_RACE_FREE | DH_PROVEN_ORDERED);
    return now & ~before;
}

static void mark(struct trial *k, uint32_t copy, const uint8_t *of_site)
{
    for (uint32_t n = 0; n < k->first->n_sites && k->t->n_marks < DH_CLONE_TRIAL_PROOFS; n++)
        if (more(k->first->of_site[n], of_site[n]))
            k->t->marks[k->t->n_marks++] = (struct dh_clone_proof){copy, n, of_site[n]};
}

static uint32_t *copies_by_function(const struct trial *k)
{
    uint32_t *all = dh_xcalloc(k->p.functions.n, sizeof *all);
    for (uint32_t n = 0; n < k->t->n_copies; n++) {
        uint32_t at = find_function(&k->p, k->copies[n], DH_NONE);
        if (at != DH_NONE)
            all[at] = n + 1;
    }
    return all;
}

static void prove(struct trial *k)
{
    struct dh_race_free safe;
    uint32_t *copies = copies_by_function(k);
    struct dh_race_free_query q = {
        .n_sites = k->first->n_sites, .also = k->also, .copies = copies, .n_copies = k->t->n_copies};
    dh_race_free_find(&safe, &k->p, &q);
    for (uint32_t n = 1; n <= k->t->n_copies && !*safe.gave_up; n++)
        mark(k, n, safe.of_site + (size_t)n * safe.n_sites);
    dh_race_free_release(&safe);
    free(copies);
}

/* ---- useless clones ---- */

/* A clone stays if it has a proof or calls a clone that stays: each must still be called from exactly the contexts in
 * which it was analysed. */
static void find_useful(const struct dh_clone_trial *t, uint8_t *useful)
{
    for (uint32_t n = 0; n < t->n_marks; n++)
        useful[t->marks[n].copy] = 1;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t n = 0; n < t->n_redirects; n++) {
            const struct dh_clone_redirect *r = &t->redirects[n];
            if (useful[r->copy] && !useful[r->caller])
                useful[r->caller] = moved = true;
        }
    }
}

static void drop_useless(struct dh_clone_trial *t, const LLVMValueRef *copies)
{
    uint8_t useful[DH_CLONES_MAX + 1] = {0};
    uint32_t number[DH_CLONES_MAX + 1] = {0}, n_copies = 0, n_redirects = 0;
    find_useful(t, useful);
    useful[0] = 1;
    for (uint32_t n = 1; n <= t->n_copies; n++)
        if (useful[n]) {
            t->functions[n_copies++] = t->functions[n - 1];
            t->added += size_of(copies[n - 1]);
            number[n] = n_copies;
        }
    for (uint32_t n = 0; n < t->n_redirects; n++) {
        struct dh_clone_redirect r = t->redirects[n];
        if (useful[r.caller] && useful[r.copy])
            t->redirects[n_redirects++] = (struct dh_clone_redirect){number[r.caller], r.call, number[r.copy]};
    }
    for (uint32_t n = 0; n < t->n_marks; n++)
        t->marks[n].copy = number[t->marks[n].copy];
    t->n_copies = n_copies;
    t->n_redirects = n_redirects;
}

/* ---- the trial ---- */

static void analyse_clones(struct trial *k, const struct dh_library_models *models)
{
    struct dh_err err = {0};
    struct dh_program_clones c = view(k->t);
    k->copies = dh_clones_make(k->m, &c);
    if (!k->copies) {
        k->t->n_copies = k->t->n_redirects = 0;
        return;
    }
    if (dh_ir_read_model(k->m, models, false, true, &k->p, &err))
        prove(k);
    drop_useless(k->t, k->copies);
    dh_program_release(&k->p);
    dh_err_release(&err);
    free(k->copies);
}

void dh_clone_trial_run(struct dh_clone_trial *t, LLVMModuleRef m, const struct dh_library_models *models,
                        const struct dh_program *p, const struct dh_race_free *first,
                        const struct dh_function_clones *wanted, uint64_t also)
{
    bool fits = wanted->copies.n <= DH_CLONES_MAX && wanted->redirects.n <= DH_CLONE_TRIAL_REDIRECTS;
    if (!place(t, m, p, wanted) || !wanted->copies.n || !fits)
        return;
    t->n_copies = (uint32_t)wanted->copies.n;
    t->n_redirects = (uint32_t)wanted->redirects.n;
    if (t->n_redirects)
        memcpy(t->redirects, wanted->redirects.at, t->n_redirects * sizeof *t->redirects);
    struct trial k = {.t = t, .first = first, .m = LLVMCloneModule(m), .also = also};
    analyse_clones(&k, models);
    LLVMDisposeModule(k.m);
}
