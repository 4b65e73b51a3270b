#include "finding/scan_finding.h"

#include "analysis/source_names.h"
#include "base/str.h"
#include "finding/modules.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */
static const struct dh_source_location *place_of(const struct dh_scan_subject *n, uint32_t inst)
{
    const struct dh_program *p = n->symex->program;
    return &p->places.at[p->insts.at[inst].place];
}

static void add_frame(struct dh_finding_stack *s, const char *function, const char *file, unsigned line,
                      unsigned column)
{
    struct dh_finding_frame f = {.function = dh_strdup(function),
                                 .file = dh_path_as_compiled(file, NULL),
                                 .line = line,
                                 .column = column,
                                 .module = dh_strdup("")};
    dh_vec_push(&s->frames, f);
}

/* The instruction's own place, and the calls it was inlined through. */
static void add_place(const struct dh_scan_subject *n, struct dh_finding_stack *s, uint32_t inst)
{
    const struct dh_program *p = n->symex->program;
    const struct dh_site_table *t = n->symex->sites;
    const struct dh_site *site = dh_source_site(n->symex, inst);
    const struct dh_source_location *place = &p->places.at[p->insts.at[inst].place];
    if (!site) {
        add_frame(s, dh_program_string(p, place->function), dh_program_string(p, place->file), place->line,
                  place->column);
        return;
    }
    add_frame(s, dh_site_string(t, site->function), dh_site_string(t, site->file), site->line, site->column);
    for (uint32_t c = site->inlined; c < t->n_chains; c = t->chains[c].next)
        add_frame(s, dh_site_string(t, t->chains[c].function), dh_site_string(t, t->chains[c].file), t->chains[c].line,
                  t->chains[c].column);
}

static bool has_place(const struct dh_scan_subject *n, uint32_t inst)
{
    return dh_source_site(n->symex, inst) || n->symex->program->insts.at[inst].place;
}

enum { MOST_FRAMES = 64 };

static void add_calls(const struct dh_scan_subject *n, struct dh_finding_stack *s, uint32_t context)
{
    const struct dh_symex *w = n->symex;
    while (context < w->contexts.n && s->frames.n < MOST_FRAMES) {
        const struct dh_context *c = &w->contexts.at[context];
        if (c->caller == DH_NONE || c->call == DH_NONE)
            return;
        add_place(n, s, c->call);
        context = c->caller;
    }
}

/* ---- names ---- */
/* x += 1 reads and writes at one place: for a reader that is one access, so both halves bear the name of the writing,
 * as in findings of runs. */
static bool are_halves(const struct dh_site *s, const struct dh_site *w)
{
    return w->op == DH_OP_WRITE && w->line == s->line && w->column == s->column && w->file == s->file &&
           w->function == s->function && w->variable == s->variable;
}

/* Sites are numbered as the code stands, so the other half is near. */
static const struct dh_site *writing_half(const struct dh_site_table *t, const struct dh_site *s)
{
    enum { NEAR = 64 };
    uint32_t at = (uint32_t)(s - t->sites), end = at + NEAR < t->n_sites ? at + NEAR : t->n_sites;
    for (uint32_t i = at > NEAR ? at - NEAR : 0; s->op == DH_OP_READ && s->line && i < end; i++)
        if (are_halves(s, &t->sites[i]))
            return &t->sites[i];
    return s;
}

/* Sets of locks are shared by accesses of many contexts: where one was taken is told only if that may have been here.
 */
static bool is_on_the_way(const struct dh_scan_subject *n, uint32_t context, uint32_t inst)
{
    const struct dh_program *p = n->symex->program;
    uint32_t function = p->blocks.at[dh_program_block_of(p, inst)].function;
    for (; context < n->symex->contexts.n; context = n->symex->contexts.at[context].caller)
        if (n->symex->contexts.at[context].function == function)
            return true;
    return false;
}

static void add_locks(const struct dh_scan_subject *n, struct dh_finding_access *a, const struct dh_symex_event *e)
{
    const struct dh_lockset *l = &n->symex->locksets.at[e->lockset];
    for (uint32_t k = 0; k < l->n; k++) {
        const struct dh_symex_lock *h = &n->symex->held.at[l->first + k];
        struct dh_finding_lock lock = {.name = dh_source_lock(n->symex, h), .shared = h->mode};
        if (h->inst < n->symex->program->insts.n && (h->expr || is_on_the_way(n, e->context, h->inst)))
            add_place(n, &lock.taken, h->inst);
        dh_vec_push(&a->locks, lock);
    }
}

static const char *op_of(const struct dh_symex_event *e)
{
    bool atomic = e->flags & DH_SYMEX_ATOMIC;
    switch (e->kind) {
    case DH_SYMEX_LOCK:
        return e->flags & DH_SYMEX_SHARED_LOCK ? "read-lock" : "lock";
    case DH_SYMEX_WAIT:
        return "wait";
    case DH_SYMEX_SIGNAL:
        return "signal";
    case DH_SYMEX_BARRIER:
        return "barrier wait";
    case DH_SYMEX_JOIN:
        return "thread join";
    case DH_SYMEX_WRITE:
        return e->flags & DH_SYMEX_FREE ? "free" : atomic ? "atomic write" : "write";
    default:
        return atomic ? "atomic read" : "read";
    }
}

static void name_access(const struct dh_scan_subject *n, const struct dh_symex_event *e, struct dh_finding_access *a)
{
    const struct dh_site_table *t = n->symex->sites;
    const struct dh_site *s = dh_source_site(n->symex, e->inst);
    if (!s) {
        const struct dh_finding_frame *f = a->stack.frames.n ? &a->stack.frames.at[0] : NULL;
        free(a->site);
        const struct dh_source_location *place = place_of(n, e->inst);
        const char *variable = dh_program_string(n->symex->program, place->variable);
        a->site = dh_format("%s:%s:%s:%s", f ? dh_basename(f->file) : "?", f ? f->function : "?",
                            variable[0] ? variable : "?", a->op);
        dh_finding_set(&a->variable, variable);
        dh_finding_set(&a->type, dh_program_string(n->symex->program, place->type));
        return;
    }
    bool source = (s->op == DH_OP_COPY || s->op == DH_OP_MOVE) && e->kind == DH_SYMEX_READ;
    dh_finding_set(&a->site, dh_site_string(t, writing_half(t, s)->name));
    dh_finding_set(&a->variable, dh_site_string(t, source ? s->source : s->variable));
    dh_finding_set(&a->type, dh_site_string(t, source ? s->source_type : s->type));
    dh_finding_set(&a->expr, dh_site_string(t, source ? s->source : s->expr));
    if (e->flags & DH_SYMEX_LIBRARY)
        dh_finding_set(&a->callee, dh_site_string(t, s->callee));
}

static void add_access(const struct dh_scan_subject *n, uint32_t event, struct dh_finding *f)
{
    const struct dh_symex_event *e = &n->symex->events.at[event];
    struct dh_finding_access a;
    dh_finding_access_init(&a);
    dh_finding_set(&a.op, op_of(e));
    add_place(n, &a.stack, e->inst);
    add_calls(n, &a.stack, e->context);
    name_access(n, e, &a);
    add_locks(n, &a, e);
    a.size = e->kind <= DH_SYMEX_WRITE ? e->size : 0;
    a.thread = e->thread;
    a.wrote = e->kind == DH_SYMEX_WRITE;
    if (e->kind == DH_SYMEX_LOCK && e->second < n->symex->held.n) {
        free(a.object);
        a.object = dh_source_lock(n->symex, &n->symex->held.at[e->second]);
    } else if (e->kind == DH_SYMEX_WAIT || e->kind == DH_SYMEX_SIGNAL)
        dh_finding_set(&a.object, a.variable);
    dh_vec_push(&f->accesses, a);
}

/* ---- threads ---- */
static uint32_t first_of(dh_thread_set set)
{
    for (uint32_t t = 0; t < DH_ABSTRACT_THREADS_MAX; t++)
        if (set >> t & 1)
            return t;
    return DH_NO_THREAD;
}

static void add_thread(const struct dh_scan_subject *n, uint32_t index, struct dh_finding *f)
{
    const struct dh_abstract_thread *t = &n->symex->threads.at[index];
    if (dh_finding_thread(f, index))
        return;
    struct dh_finding_thread out = {.index = index,
                                    .parent = first_of(t->creators),
                                    .name = dh_strdup(dh_source_thread(n->symex, index)),
                                    .state = dh_strdup(t->unique ? "one at most" : "any number of them")};
    if (t->inst != DH_NONE)
        add_place(n, &out.created, t->inst);
    dh_vec_push(&f->threads, out);
}

/* ---- objects ---- */
static void name_object(const struct dh_scan_subject *n, const struct dh_symex_event *e, struct dh_finding *f)
{
    const struct dh_program *p = n->symex->program;
    const struct dh_heap_graph *g = &n->symex->points_to->graph;
    int32_t offset;
    const struct dh_global *global = dh_source_global(n->symex, e->node, &offset);
    free(f->object);
    if (global) {
        const char *file = dh_program_string(p, global->file);
        f->object = global->line ? dh_format("global '%s' of size %llu (%s:%u)", dh_program_string(p, global->source),
                                             (unsigned long long)global->size, dh_basename(file), global->line)
                                 : dh_format("global '%s'", dh_program_string(p, global->source));
        return;
    }
    uint32_t first = g->nodes.at[e->node].origin, at = first;
    f->object = dh_strdup("");
    for (bool again = first != DH_NO_NODE; again; again = at != first) {
        const struct dh_heap_origin *o = &g->origins.at[at];
        at = o->next;
        if (o->kind != DH_ORIGIN_ALLOC && o->kind != DH_ORIGIN_SLOT)
            continue;
        dh_finding_set(&f->object, o->kind == DH_ORIGIN_ALLOC ? "heap block" : "variable on a stack");
        if (has_place(n, o->index)) /* most variables have none */
            add_place(n, &f->allocated, o->index);
        return;
    }
}

/* ---- findings ---- */
static void begin_finding(const struct dh_scan_subject *n, const char *kind, const char *text, struct dh_finding *f)
{
    dh_finding_init(f);
    f->kind = dh_finding_kind_parse(kind);
    dh_finding_set(&f->detector, "static");
    f->level = DH_LEVEL_SUSPECTED;
    f->verdict = DH_VERDICT_NONE;
    f->healing = DH_HEALING_NONE;
    dh_finding_set(&f->program, n->program);
    dh_finding_set(&f->build, n->build);
    dh_finding_set(&f->text, text);
    f->object_thread = DH_NO_THREAD;
}

static void finish_finding(const struct dh_scan_subject *n, struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        if (f->accesses.at[i].thread < n->symex->threads.n)
            add_thread(n, f->accesses.at[i].thread, f);
    dh_finding_fingerprint(f);
}

static bool is_better_name(const struct dh_finding_access *a, const struct dh_finding_access *b)
{
    return !b->variable[0] || (a->wrote && !b->wrote && a->variable[0]);
}

void dh_scan_race(const struct dh_scan_subject *n, uint32_t one, uint32_t other, const char *text, struct dh_finding *f)
{
    begin_finding(n, "race", text, f);
    add_access(n, one, f);
    add_access(n, other, f);
    const struct dh_finding_access *a = &f->accesses.at[0], *b = &f->accesses.at[1];
    const struct dh_finding_access *name = is_better_name(a, b) || (a->variable[0] && !b->wrote) ? a : b;
    dh_finding_set(&f->variable, name->variable[0] ? name->variable : a->variable);
    dh_finding_set(&f->type, name->type);
    name_object(n, &n->symex->events.at[one], f);
    finish_finding(n, f);
}

/* "lower, upper": each once. */
static void name_locks(struct dh_finding *f)
{
    struct dh_str all = {0};
    for (size_t i = 0; i < f->accesses.n; i++) {
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known |= strcmp(f->accesses.at[k].object, f->accesses.at[i].object) == 0;
        if (!known)
            dh_str_addf(&all, "%s%s", all.n ? ", " : "", f->accesses.at[i].object);
    }
    dh_finding_set(&f->variable, all.at ? all.at : "");
    dh_str_release(&all);
}

void dh_scan_deadlock(const struct dh_scan_subject *n, const struct dh_deadlock *d, struct dh_finding *f)
{
    static const struct {
        const char *kind, *text;
    } words[] = {
        [DH_DEADLOCK_MUTUAL] = {"deadlock", "each thread can hold what the one before waits for: no lock that two of "
                                            "them hold and no order of threads keeps them apart"},
        [DH_DEADLOCK_CRITICAL] = {"critical-wait", "the thread waits while it holds a lock that others take"},
        [DH_DEADLOCK_INDEFINITE] = {"indefinite-wait", "nobody ever signals this condition"},
        [DH_DEADLOCK_SELF] = {"deadlock",
                              "the thread waits for a lock that it holds itself and that nobody can take twice"},
        [DH_DEADLOCK_JOIN] = {"deadlock",
                              "the thread waits for the end of another one while it holds a lock that the other takes"},
    };
    begin_finding(n, words[d->kind].kind, words[d->kind].text, f);
    for (uint32_t k = 0; k < d->n; k++)
        add_access(n, d->events[k], f);
    const struct dh_finding_access *first = &f->accesses.at[0];
    if (d->kind == DH_DEADLOCK_CRITICAL || d->kind == DH_DEADLOCK_SELF || d->kind == DH_DEADLOCK_JOIN) {
        char *held = dh_source_lock(n->symex, &n->symex->held.at[d->held]);
        dh_finding_set(&f->variable, held);
        free(held);
    } else if (d->kind == DH_DEADLOCK_MUTUAL)
        name_locks(f);
    else
        dh_finding_set(&f->variable, first->object[0] ? first->object : first->variable);
    finish_finding(n, f);
}

/* ---- steps that belong together ---- */
static char *violation_text(const struct dh_scan_subject *n, const struct dh_violation *v, const char *first,
                            const char *second)
{
    static const char *const words[] = {
        [DH_VIOLATION_LOST_UPDATE] =
            "%s reads %s and then writes it with what it computed from that: what another thread "
            "writes in between is lost",
        [DH_VIOLATION_UNREPEATABLE_READ] =
            "%s reads %s twice and uses both values together: another thread can write it in "
            "between",
        [DH_VIOLATION_CHECK_THEN_SET] = "%s tests %s and then sets it: another thread can write it in between",
        [DH_VIOLATION_CHECK_THEN_USE] =
            "%s tests %s and then reads it again to use it: another thread can write it in between",
        [DH_VIOLATION_CHECK_THEN_ACT] =
            "%s tests %s in one critical section and accesses %s in another: in between, another "
            "thread can change both in one",
        [DH_VIOLATION_TORN_READ] =
            "%s reads %s and %s and then looks whether something else has changed meanwhile, but no "
            "fence keeps that look behind them",
        [DH_VIOLATION_SPLIT] = "%s accesses %s in two critical sections: another thread can write it in between",
    };
    struct dh_str out = {0};
    dh_str_addf(&out, words[v->kind], dh_source_function(n->symex->program, v->function), first, second);
    return out.at;
}

static const char *name_or(const char *name, const char *otherwise)
{
    return name[0] ? name : otherwise;
}

void dh_scan_violation(const struct dh_scan_subject *n, const struct dh_violation *v, struct dh_finding *f)
{
    begin_finding(n, "atomicity", "", f);
    add_access(n, v->first, f);
    add_access(n, v->between, f);
    add_access(n, v->second, f);
    if (v->also != DH_NONE)
        add_access(n, v->also, f);
    struct dh_finding_access *a = f->accesses.at;
    const char *x = name_or(a[0].variable, a[1].variable), *y = name_or(a[2].variable, x);
    dh_finding_set(&a[0].note, v->locked ? "in the first section" : "one of the steps");
    dh_finding_set(&a[1].note, "can come between");
    dh_finding_set(&a[2].note, v->locked ? "in the second section" : "one of the steps");
    if (v->also != DH_NONE)
        dh_finding_set(&a[3].note, v->kind == DH_VIOLATION_TORN_READ ? "by the same thread as that"
                                                                     : "in the same section as that");
    free(f->text);
    f->text = violation_text(n, v, x, y);
    if (v->locked) { /* as the detector `methods` has it: what a run shows is the same finding */
        free(f->key);
        f->key = dh_format("methods:%s:%s|%s", dh_source_function(n->symex->program, v->function), x, y);
    }
    free(f->variable);
    bool two = v->kind == DH_VIOLATION_CHECK_THEN_ACT || v->kind == DH_VIOLATION_TORN_READ;
    f->variable = two ? dh_format("{%s, %s}", x, y) : dh_strdup(x);
    dh_finding_set(&f->type, two ? "" : name_or(a[0].type, a[1].type));
    name_object(n, &n->symex->events.at[v->first], f);
    finish_finding(n, f);
}

bool dh_scan_has_line(const struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        if (f->accesses.at[i].stack.frames.n && f->accesses.at[i].stack.frames.at[0].line)
            return true;
    return false;
}
