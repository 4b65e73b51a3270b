/* Critical sections that may wait for a condition, and conditions that no code of the program signals. Covers waits
 * without a time limit, in the function that acquires the lock, with that lock. A condition counts as never signalled
 * only if every signal and broadcast of the program is for a variable that is known by name. */
#include "ir/lock_analysis.h"
#include "ir/sites.h"

#include <string.h>

struct wait_search {
    struct dh_lock_analysis *a;
    LLVMValueRef begin;
    bool all_known; /* names of what is signalled */
};

static bool is_known(const struct dh_lock_analysis *a, const struct dh_site *s)
{
    const char *name = dh_site_string(&a->sites, s->variable);
    return *name && *name != '*' && !strpbrk(name, "?(");
}

static bool is_signal(const struct dh_site *s)
{
    return s->op == DH_OP_COND_SIGNAL || s->op == DH_OP_COND_BROADCAST;
}

static bool are_all_known(const struct dh_lock_analysis *a)
{
    for (uint32_t i = 0; i < a->sites.n_sites; i++)
        if (is_signal(&a->sites.sites[i]) && !is_known(a, &a->sites.sites[i]))
            return false;
    return true;
}

/* "idle" of "p.idle" and "struct pool.idle", which may be one: a field goes by the name of a variable, too. */
static const char *field_of(const struct dh_lock_analysis *a, const struct dh_site *s)
{
    const char *name = dh_site_string(&a->sites, s->variable), *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static bool is_signalled(const struct dh_lock_analysis *a, const struct dh_site *wait)
{
    const char *field = field_of(a, wait);
    for (uint32_t i = 0; i < a->sites.n_sites; i++)
        if (is_signal(&a->sites.sites[i]) && strcmp(field_of(a, &a->sites.sites[i]), field) == 0)
            return true;
    return false;
}

static void visit_wait(void *arg, LLVMValueRef i)
{
    const struct wait_search *f = arg;
    uint32_t site = dh_lock_is_call(i) ? dh_ir_site_of(i) : DH_NO_SITE;
    if (site >= f->a->sites.n_sites || f->a->sites.sites[site].op != DH_OP_COND_WAIT || LLVMGetNumArgOperands(i) != 2 ||
        !dh_lock_same_value(LLVMGetOperand(i, 1), LLVMGetOperand(f->begin, 0)))
        return;
    const struct dh_site *wait = &f->a->sites.sites[site];
    bool never = f->all_known && is_known(f->a, wait) && !is_signalled(f->a, wait);
    uint32_t how = DH_FLOW_WAITS | (never ? DH_FLOW_NOBODY_SIGNALS : 0);
    dh_vec_push(&f->a->flows, (struct dh_flow_row){dh_ir_site_of(f->begin), site, how});
}

void dh_lock_find_waits(struct dh_lock_analysis *a)
{
    bool all_known = are_all_known(a);
    for (size_t i = 0; i < a->all.n; i++)
        for (size_t k = 0; k < a->all.at[i]->locking.n; k++) {
            bool direct;
            struct wait_search f = {a, a->all.at[i]->locking.at[k], all_known};
            if (dh_lock_effect(a, f.begin, &direct) != DH_LOCK_ACQUIRES || !direct || !LLVMGetNumArgOperands(f.begin))
                continue;
            struct dh_section_walk w = {.a = a, .begin = f.begin, .visit = visit_wait, .arg = &f};
            dh_section_walk(&w);
            dh_section_walk_release(&w);
        }
}
