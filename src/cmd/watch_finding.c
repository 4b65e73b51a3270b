/* From a suspicion to a finding with names. */
#include "cmd/watch.h"

#include "finding/modules.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[DH_SUSPECT_KIND_COUNT] = {
    [DH_SUSPECT_RACE] = "race",
    [DH_SUSPECT_VIEW] = "view",
    [DH_SUSPECT_ATOMICITY] = "atomicity",
    [DH_SUSPECT_DEADLOCK] = "deadlock",
    [DH_SUSPECT_CRITICAL_WAIT] = "critical-wait",
    [DH_SUSPECT_INDEFINITE_WAIT] = "indefinite-wait",
    [DH_SUSPECT_LOST_WAKEUP] = "lost-wakeup",
    [DH_SUSPECT_LOCK_MISUSE] = "lock-misuse",
};

static const char *op_name(unsigned op)
{
    switch (op) {
    case DH_OP_ATOMIC_LOAD:
        return "atomic read";
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
    case DH_OP_ATOMIC_CAS:
        return "atomic write";
    default:
        return dh_op_info(op)->name;
    }
}

static void add_frame(struct dh_finding_stack *out, const struct dh_site_table *t, const struct dh_site *s)
{
    struct dh_finding_frame f = {.function = dh_strdup(dh_site_string(t, s->function)),
                                 .file = dh_path_as_compiled(dh_site_string(t, s->file), NULL),
                                 .line = s->line,
                                 .column = s->column,
                                 .module = dh_strdup("")};
    dh_vec_push(&out->frames, f);
}

static char *name_of_lock(struct dh_meaning *m, uint64_t lock, uint32_t taken_at)
{
    const struct dh_site_table *t = NULL;
    char *name = dh_meaning_name(m, lock);
    if (name[0])
        return name;
    free(name);
    const struct dh_site *s = taken_at == DH_NO_PLACE ? NULL : dh_meaning_site(m, taken_at, &t);
    if (s && dh_site_string(t, s->variable)[0])
        return dh_strdup(dh_site_string(t, s->variable));
    return dh_format("lock at 0x%llx", (unsigned long long)lock);
}

static void add_lock(struct dh_meaning *m, const struct dh_held *held, struct dh_finding_access *a)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = held->site == DH_NO_PLACE ? NULL : dh_meaning_site(m, held->site, &t);
    struct dh_finding_lock l = {.name = name_of_lock(m, held->lock, held->site), .shared = held->shared};
    if (s)
        add_frame(&l.taken, t, s);
    dh_vec_push(&a->locks, l);
}

static void name_place(struct dh_meaning *m, const struct dh_suspect *from, struct dh_finding_access *a)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = from->site == DH_NO_PLACE ? NULL : dh_meaning_site(m, from->site, &t);
    if (!s) {
        char *name = dh_format("?:%s", a->op);
        dh_finding_set(&a->site, name);
        free(name);
        return;
    }
    add_frame(&a->stack, t, s);
    dh_finding_set(&a->site, dh_site_string(t, s->name));
    dh_finding_set(&a->variable, dh_site_string(t, s->variable));
    dh_finding_set(&a->type, dh_site_string(t, s->type));
    dh_finding_set(&a->expr, dh_site_string(t, s->expr));
}

static bool writes(unsigned op)
{
    return op == DH_OP_WRITE || op == DH_OP_ATOMIC_STORE || op == DH_OP_ATOMIC_RMW || op == DH_OP_ATOMIC_CAS ||
           op == DH_OP_COPY || op == DH_OP_MOVE || op == DH_OP_SET;
}

static void add_access(struct dh_meaning *m, const struct dh_suspect *from, struct dh_finding *f)
{
    struct dh_finding_access a = {.op = dh_strdup(op_name(from->op)),
                                  .size = from->size < UINT32_MAX ? (unsigned)from->size : UINT32_MAX,
                                  .thread = from->thread,
                                  .wrote = writes(from->op)};
    char **const texts[] = {&a.site, &a.variable, &a.type, &a.expr, &a.callee, &a.value};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = dh_strdup("");
    name_place(m, from, &a);
    for (size_t i = 0; i < from->n_locks; i++)
        add_lock(m, &from->locks[i], &a);
    dh_vec_push(&f->accesses, a);
}

static void fill_variable(struct dh_meaning *m, const struct dh_suspicion *s, struct dh_finding *f)
{
    for (size_t i = f->accesses.n; i-- > 0;)
        if (f->accesses.at[i].variable[0]) {
            dh_finding_set(&f->variable, f->accesses.at[i].variable);
            dh_finding_set(&f->type, f->accesses.at[i].type);
        }
    if (!f->variable[0]) {
        free(f->variable);
        f->variable = dh_meaning_name(m, s->addr);
    }
}

void dh_watch_finding(struct dh_meaning *m, const char *detector, const struct dh_suspicion *s, struct dh_finding *out)
{
    const struct dh_meta *meta = dh_meaning_meta(m);
    dh_finding_init(out);
    dh_finding_set(&out->kind, s->kind < DH_SUSPECT_KIND_COUNT ? kinds[s->kind] : "race");
    dh_finding_set(&out->level, s->level == DH_LEVEL_OBSERVED ? "observed" : "suspected");
    dh_finding_set(&out->detector, detector);
    dh_finding_set(&out->verdict, "none");
    dh_finding_set(&out->healing, "none");
    dh_finding_set(&out->text, s->text ? s->text : "");
    if (meta) {
        dh_finding_set(&out->program, meta->original ? meta->original : meta->program ? meta->program : "");
        out->pid = meta->pid;
        out->first_seen = out->last_seen = (long long)meta->started;
    }
    out->runs = 1;
    for (size_t i = 0; i < s->n_suspects && i < DH_SUSPECTS; i++)
        add_access(m, &s->suspects[i], out);
    fill_variable(m, s, out);
    dh_finding_fingerprint(out);
}
