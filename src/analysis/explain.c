#include "analysis/explain.h"

#include "analysis/source_names.h"
#include "base/str.h"

#include <stdlib.h>

/* Two accesses that may race. */
struct pair {
    const struct dh_symex *w;
    const struct dh_symex_event *a, *b;
};

static const char *name_of(const struct pair *p, const struct dh_symex_event *e)
{
    return dh_source_thread(p->w, e->thread);
}

static bool is_one(const struct pair *p, const struct dh_symex_event *e)
{
    return p->w->threads.at[e->thread].unique;
}

/* "vault.c:19" */
static char *place_of(const struct pair *p, const struct dh_symex_event *e)
{
    const struct dh_program *program = p->w->program;
    const struct dh_source_location *at = &program->places.at[program->insts.at[e->inst].place];
    return dh_format("%s:%u", dh_basename(dh_program_string(program, at->file)), at->line);
}

static char *with_place(const struct pair *p, const struct dh_symex_event *e, const char *format)
{
    char *place = place_of(p, e);
    struct dh_str out = {0};
    dh_str_addf(&out, format, place);
    free(place);
    return dh_str_take(&out);
}

/* ---- one for each argument ---- */

static char *reads(const struct pair *p)
{
    return with_place(p, p->a->kind == DH_SYMEX_WRITE ? p->a : p->b, "%s writes");
}

static char *atomic(const struct pair *p)
{
    return with_place(p, p->a->flags & DH_SYMEX_ATOMIC ? p->b : p->a, "%s is a plain access");
}

static char *one_thread(const struct pair *p)
{
    if (p->a->thread == p->b->thread)
        return dh_format("any number of threads may run %s", name_of(p, p->a));
    return dh_format("one is done by %s, the other by %s", name_of(p, p->a), name_of(p, p->b));
}

static char *one_instance(const struct pair *p)
{
    const struct dh_symex_event *e = p->a->only_instance ? p->b : p->a;
    return with_place(p, e, "no condition on a thread's number leads to %s");
}

static char *alone(const struct pair *p)
{
    return dh_format("%s and %s may run beside others", name_of(p, p->a), name_of(p, p->b));
}

static char *disjoint(const struct pair *p)
{
    if (p->w->points_to->graph.nodes.at[p->a->node].flags & DH_NODE_COLLAPSED)
        return dh_strdup("the fields of this object could not be told apart: it is used as more than one type");
    if ((p->a->flags | p->b->flags) & DH_SYMEX_UNKNOWN_INDEX)
        return with_place(p, p->a->flags & DH_SYMEX_UNKNOWN_INDEX ? p->a : p->b, "where %s reaches to is not known");
    if (p->a->stride || p->b->stride)
        return dh_strdup("they may access the same element");
    return dh_format("both touch bytes from %d on of the object",
                     p->a->offset > p->b->offset ? p->a->offset : p->b->offset);
}

static char *fresh(const struct pair *p)
{
    if ((p->a->flags | p->b->flags) & DH_SYMEX_FRESH)
        return dh_strdup("the object is new at one of them, but others learn of it through a race, so they may see it "
                         "before what was written to it");
    return dh_strdup("others may know the object at both");
}

static char *start(const struct pair *p)
{
    const struct dh_symex_event *one = is_one(p, p->a) ? p->a : is_one(p, p->b) ? p->b : NULL;
    const struct dh_symex_event *other = one == p->a ? p->b : p->a;
    if (!one)
        return dh_format("neither %s nor %s is one thread, so no start is before all of them", name_of(p, p->a),
                         name_of(p, p->b));
    char *at = place_of(p, one);
    char *text = dh_format("%s may run already when %s is at %s", name_of(p, other), name_of(p, one), at);
    free(at);
    return text;
}

static char *join(const struct pair *p)
{
    const struct dh_symex_event *one = is_one(p, p->a) ? p->a : is_one(p, p->b) ? p->b : NULL;
    const struct dh_symex_event *other = one == p->a ? p->b : p->a;
    if (!one)
        return dh_format("neither %s nor %s is one thread that could have joined all others", name_of(p, p->a),
                         name_of(p, p->b));
    char *at = place_of(p, one);
    char *text = dh_format("no join that certainly waits for every %s is passed before %s", name_of(p, other), at);
    free(at);
    return text;
}

/* "vault, log_lock", or "no lock". */
static void add_locks(const struct pair *p, const struct dh_symex_event *e, struct dh_str *out)
{
    const struct dh_lockset *l = &p->w->locksets.at[e->lockset];
    for (uint32_t k = 0; k < l->n; k++) {
        char *name = dh_source_lock(p->w, &p->w->held.at[l->first + k]);
        dh_str_addf(out, "%s%s", k ? ", " : "", name);
        free(name);
    }
    if (!l->n)
        dh_str_add(out, "no lock");
}

static const struct dh_symex_lock *common(const struct pair *p, const struct dh_symex_lock **other)
{
    const struct dh_lockset *l = &p->w->locksets.at[p->a->lockset], *m = &p->w->locksets.at[p->b->lockset];
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = 0; k < m->n; k++) {
            const struct dh_symex_lock *x = &p->w->held.at[l->first + i], *y = &p->w->held.at[m->first + k];
            if (x->node == y->node && x->offset == y->offset) {
                *other = y;
                return x;
            }
        }
    return NULL;
}

static char *lock(const struct pair *p)
{
    const struct dh_symex_lock *other, *one = common(p, &other);
    struct dh_str out = {0};
    if (!one) {
        char *a = place_of(p, p->a), *b = place_of(p, p->b);
        dh_str_addf(&out, "%s holds ", a);
        add_locks(p, p->a, &out);
        dh_str_addf(&out, ", %s holds ", b);
        add_locks(p, p->b, &out);
        free(a);
        free(b);
        return dh_str_take(&out);
    }
    char *name = dh_source_lock(p->w, one);
    dh_str_addf(&out,
                one->mode && other->mode ? "both hold %s for reading only"
                                         : "both hold %s, but there are many of that kind",
                name);
    free(name);
    return dh_str_take(&out);
}

static char *object_lock(const struct pair *p)
{
    const struct dh_symex_lock *other, *one = common(p, &other);
    if (!one)
        return dh_strdup("they hold no lock in common");
    char *name = dh_source_lock(p->w, one);
    bool neither = one->relation == DH_RELATION_NONE && other->relation == DH_RELATION_NONE;
    char *place = place_of(p, one->relation == DH_RELATION_NONE ? p->a : p->b);
    char *text = neither ? dh_format("that %s is the one of this object is seen at neither", name)
                         : dh_format("that %s is the one of this object is not seen at %s", name, place);
    free(place);
    free(name);
    return text;
}

static char *own(const struct pair *p)
{
    if (p->a->thread != p->b->thread)
        return dh_format("%s and %s may be given the same object", name_of(p, p->a), name_of(p, p->b));
    if (!p->w->threads.at[p->a->thread].own_argument)
        return dh_format("threads that run %s may be given the same object", name_of(p, p->a));
    return dh_format("it is not the object that %s was given", name_of(p, p->a));
}

static char *barrier(const struct pair *p)
{
    uint64_t x = p->w->orders.at[p->a->order].phase, y = p->w->orders.at[p->b->order].phase;
    if (x <= 1 && y <= 1)
        return dh_strdup("no barrier is passed before either");
    return dh_strdup(p->a->thread == p->b->thread ? "both may be between the same two barriers"
                                                  : "barriers are followed among threads of one kind only");
}

static const struct {
    enum dh_argument argument;
    char *(*reason)(const struct pair *);
    const char *text; /* where it is always the same */
} reasons[] = {
    {DH_ARGUMENT_READS, reads, NULL},
    {DH_ARGUMENT_ATOMIC, atomic, NULL},
    {DH_ARGUMENT_ONE_THREAD, one_thread, NULL},
    {DH_ARGUMENT_ONE_INSTANCE, one_instance, NULL},
    {DH_ARGUMENT_ALONE, alone, NULL},
    {DH_ARGUMENT_DISJOINT, disjoint, NULL},
    {DH_ARGUMENT_FRESH, fresh, NULL},
    {DH_ARGUMENT_START, start, NULL},
    {DH_ARGUMENT_JOIN, join, NULL},
    {DH_ARGUMENT_LOCK, lock, NULL},
    {DH_ARGUMENT_INSTANCE_LOCK, object_lock, NULL},
    {DH_ARGUMENT_OWNER_LOCK, object_lock, NULL},
    {DH_ARGUMENT_INDEX_LOCK, object_lock, NULL},
    {DH_ARGUMENT_LOCK_NEAR, object_lock, NULL},
    {DH_ARGUMENT_LOCK_REACHED, object_lock, NULL},
    {DH_ARGUMENT_OWN, own, NULL},
    {DH_ARGUMENT_OWN_NEAR, own, NULL},
    {DH_ARGUMENT_BARRIER, barrier, NULL},
    {DH_ARGUMENT_OWN_MADE, NULL, "one of them may use an object that another thread made"},
    {DH_ARGUMENT_OWN_PART, NULL, "no index that only this thread has leads to both"},
    {DH_ARGUMENT_HANDED, NULL,
     "it is no element of an array of which each thread is given one, or not at such a moment"},
    {DH_ARGUMENT_NAMES, NULL, "the source gives them one name, or none"},
    {DH_ARGUMENT_OWNERSHIP_TRANSFER, NULL, "it is not seen to be taken out of a shared place under a lock"},
    {DH_ARGUMENT_WAIT_ORDER, NULL,
     "no flag, counter or semaphore is seen that one waits for and the other sets afterwards"},
    {DH_ARGUMENT_ATOMIC_LOCK, lock, NULL},
    {DH_ARGUMENT_PUBLICATION, NULL,
     "neither is seen to come behind a look at an atomic that the other's thread writes later, in order"},
    {DH_ARGUMENT_HEURISTIC_JOIN, NULL, "no join of such a thread is passed before either"},
    {DH_ARGUMENT_RELEASED, NULL, "neither does"},
    {DH_ARGUMENT_UNWINDING, NULL, "neither stands in code for exceptions"},
    {DH_ARGUMENT_LIBRARY_INTERNALS, NULL, "one of them is the program's"},
    {DH_ARGUMENT_INTENDED, NULL, "there is no such mark"},
};

char *dh_explain_argument(const struct dh_symex *w, enum dh_argument argument, uint32_t one, uint32_t other)
{
    struct pair p = {w, &w->events.at[one], &w->events.at[other]};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].argument == argument)
            return reasons[i].reason ? reasons[i].reason(&p) : dh_strdup(reasons[i].text);
    return dh_strdup("nothing in the program shows it");
}
