#include "heal/policy.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static void add_text(dh_text_vec *v, const char *text)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->at[i], text))
            return;
    dh_vec_push(v, dh_strdup(text));
}

static bool has_text(const dh_text_vec *v, const char *text)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->at[i], text))
            return true;
    return false;
}

static void release_texts(dh_text_vec *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->at[i]);
    dh_vec_release(v);
}

static void release_section(struct dh_draft_section *s)
{
    free(s->name);
    free(s->entry);
    free(s->why);
    free(s->because);
    release_texts(&s->ends);
    release_texts(&s->exits);
}

void dh_draft_init(struct dh_draft *d, const struct dh_site_table *sites, const struct dh_scope_table *scopes)
{
    *d = (struct dh_draft){.sites = sites, .scopes = scopes};
}

void dh_draft_release(struct dh_draft *d)
{
    for (size_t i = 0; i < d->groups.n; i++) {
        free(d->groups.at[i].name);
        free(d->groups.at[i].weaker);
        release_texts(&d->groups.at[i].variables);
        release_texts(&d->groups.at[i].findings);
        release_texts(&d->groups.at[i].functions);
    }
    for (size_t i = 0; i < d->sections.n; i++)
        release_section(&d->sections.at[i]);
    for (size_t i = 0; i < d->rest.n; i++) {
        free(d->rest.at[i].id);
        free(d->rest.at[i].why);
    }
    dh_vec_release(&d->groups);
    dh_vec_release(&d->sections);
    dh_vec_release(&d->rest);
}

static void leave_out(struct dh_draft *d, const char *id, const char *why)
{
    struct dh_draft_rest r = {dh_strdup(id), dh_strdup(why)};
    dh_vec_push(&d->rest, r);
}

/* ---- sites ---- */

static const char *text(const struct dh_draft *d, uint32_t offset)
{
    return dh_site_string(d->sites, offset);
}

static bool is_access(const struct dh_site *s)
{
    enum dh_group group = dh_op_info(s->op)->group;
    return group == DH_GROUP_ACCESS || group == DH_GROUP_ATOMIC;
}

static bool writes(const struct dh_site *s)
{
    return s->op != DH_OP_READ && s->op != DH_OP_ATOMIC_LOAD;
}

static bool is_of(const struct dh_draft *d, const struct dh_draft_group *g, const struct dh_site *s)
{
    return is_access(s) && has_text(&g->variables, text(d, s->variable));
}

/* Names of functions in stacks may carry their parameters. */
static bool same_function(const char *site, const char *frame)
{
    size_t n = strlen(site);
    return n && !strncmp(site, frame, n) && (!frame[n] || frame[n] == '(');
}

static const struct dh_site *site_of_function(const struct dh_draft *d, const char *function)
{
    for (uint32_t i = 0; i < d->sites->n_sites; i++)
        if (d->sites->sites[i].op == DH_OP_FUNCTION && same_function(text(d, d->sites->sites[i].function), function))
            return &d->sites->sites[i];
    return NULL;
}

/* ---- groups ---- */

static char *group_name(const struct dh_draft *d, const char *variable)
{
    const char *last = strrchr(variable, ' ');
    char *name = dh_strdup(last ? last + 1 : variable);
    for (char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9')))
            *at = '_';
    for (size_t i = 2; dh_draft_find(d, name) != SIZE_MAX; i++) {
        char *longer = dh_format("%s_%zu", name, i);
        free(name);
        name = longer;
    }
    return name;
}

size_t dh_draft_find(const struct dh_draft *d, const char *group)
{
    for (size_t i = 0; i < d->groups.n; i++)
        if (!strcmp(d->groups.at[i].name, group))
            return i;
    return SIZE_MAX;
}

static void move_texts(dh_text_vec *to, dh_text_vec *from)
{
    for (size_t i = 0; i < from->n; i++)
        add_text(to, from->at[i]);
    release_texts(from);
    *from = (dh_text_vec){0};
}

void dh_draft_join(struct dh_draft *d, size_t first, size_t other)
{
    struct dh_draft_group *to = &d->groups.at[first], *from = &d->groups.at[other];
    move_texts(&to->variables, &from->variables);
    move_texts(&to->findings, &from->findings);
    move_texts(&to->functions, &from->functions);
    to->of_views |= from->of_views;
    to->of_steps |= from->of_steps;
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == other)
            d->sections.at[i].group = first;
}

static bool has_one_of(const struct dh_draft_group *g, const dh_text_vec *variables)
{
    for (size_t i = 0; i < variables->n; i++)
        if (has_text(&g->variables, variables->at[i]))
            return true;
    return false;
}

/* The group that has one of the variables already, which gets the others; several are merged. */
static size_t group_of(struct dh_draft *d, const dh_text_vec *variables, enum dh_heal_means means)
{
    size_t found = d->groups.n;
    for (size_t g = 0; g < d->groups.n; g++)
        if (d->groups.at[g].means != means || !has_one_of(&d->groups.at[g], variables))
            continue;
        else if (found == d->groups.n)
            found = g;
        else
            dh_draft_join(d, found, g);
    if (found == d->groups.n) {
        struct dh_draft_group g = {.name = group_name(d, variables->at[0]), .means = means, .weaker = dh_strdup("")};
        dh_vec_push(&d->groups, g);
    }
    for (size_t i = 0; i < variables->n; i++)
        add_text(&d->groups.at[found].variables, variables->at[i]);
    return found;
}

/* Findings on views name "{a, b}". */
static void split_variables(const char *all, dh_text_vec *out)
{
    if (all[0] != '{') {
        add_text(out, all);
        return;
    }
    for (const char *at = all + 1; *at && *at != '}';) {
        size_t n = strcspn(at, ",}");
        char *one = dh_format("%.*s", (int)n, at);
        if (*one)
            add_text(out, one);
        free(one);
        at += n;
        at += strspn(at, ", ");
    }
}

/* ---- sections ---- */

static struct dh_draft_section *new_section(struct dh_draft *d, size_t group, const char *function, const char *entry,
                                            const char *because, char *why)
{
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group && !strcmp(d->sections.at[i].entry, entry)) {
            free(why);
            return NULL;
        }
    const char *last = strrchr(function, ':');
    struct dh_draft_section s = {.entry = dh_strdup(entry), .because = dh_strdup(because), .group = group, .why = why};
    s.name = dh_format("%s_%s", d->groups.at[group].name, last ? last + 1 : function);
    for (char *at = s.name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9')))
            *at = '_';
    unsigned same = 0;
    size_t n = strlen(s.name);
    for (size_t i = 0; i < d->sections.n; i++)
        same += !strncmp(d->sections.at[i].name, s.name, n) &&
                (!d->sections.at[i].name[n] || d->sections.at[i].name[n] == '_');
    if (same) {
        char *longer = dh_format("%s_%u", s.name, same + 1);
        free(s.name);
        s.name = longer;
    }
    dh_vec_push(&d->sections, s);
    return &d->sections.at[d->sections.n - 1];
}

static struct dh_draft_section *add_whole(struct dh_draft *d, size_t group, const char *function, const char *because,
                                          const char *why)
{
    const struct dh_site *s = site_of_function(d, function);
    if (!s)
        return NULL;
    const char *name = text(d, s->name);
    struct dh_draft_section *section = new_section(d, group, text(d, s->function), name, because,
                                                   dh_format("all of %s: %s", text(d, s->function), why));
    if (section) {
        add_text(&section->ends, name);
        section->whole = true;
    }
    return section;
}

/* The accesses of a function to the group's variables in order, and its lock operations between them. */
struct walk {
    DH_VEC(const struct dh_site *) own;
    DH_VEC(unsigned) locks; /* acquired before the access */
    DH_VEC(int) held;       /* of these not released */
};

static void walk_function(const struct dh_draft *d, size_t group, const char *function, struct walk *w)
{
    unsigned locks = 0;
    int held = 0;
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        if (strcmp(text(d, s->function), function) != 0)
            continue;
        if (s->op == DH_OP_LOCK || s->op == DH_OP_RDLOCK) {
            locks++;
            held++;
        } else if (s->op == DH_OP_UNLOCK) {
            held -= held > 0;
        } else if (is_of(d, &d->groups.at[group], s)) {
            dh_vec_push(&w->own, s);
            dh_vec_push(&w->locks, locks);
            dh_vec_push(&w->held, held);
        }
    }
}

/* A read that is repeated first under a lock (double-checked): the program does not rely on the first one. */
static bool is_looked_at_again(const struct walk *w, size_t i)
{
    return !writes(w->own.at[i]) && !w->held.at[i] && i + 1 < w->own.n && !writes(w->own.at[i + 1]) &&
           w->locks.at[i + 1] > w->locks.at[i] && w->held.at[i + 1];
}

static void add_pair(struct dh_draft *d, size_t group, const char *function, const struct walk *w, size_t i,
                     const char *because)
{
    const struct dh_site *first = w->own.at[i], *next = w->own.at[i + 1];
    bool alone = d->groups.at[group].variables.n == 1;
    char *why = dh_format("%s %s at line %u and %s at line %u belong together", writes(first) ? "written" : "read",
                          text(d, first->variable), first->line, writes(next) ? "written" : "read", next->line);
    struct dh_draft_section *s = new_section(d, group, function, text(d, first->name), because, why);
    for (size_t k = i + 1; s && k < w->own.n; k++) {
        size_t before = s->ends.n;
        add_text(&s->ends, text(d, w->own.at[k]->name));
        /* Only between two writes does a read see an intermediate value. */
        if (s->ends.n > before && before < 64 && alone && !(writes(first) && writes(w->own.at[k])))
            s->reads_pass |= (uint64_t)1 << before;
    }
}

/* From each access of a function to the next: load and store, test and use (001 §2). */
static void add_pairs(struct dh_draft *d, size_t group, const char *function, const char *because)
{
    struct walk w = {0};
    walk_function(d, group, function, &w);
    for (size_t i = 0; i + 1 < w.own.n; i++)
        if (!is_looked_at_again(&w, i))
            add_pair(d, group, function, &w, i, because);
    /* A pointer that is tested and read again is used after that. */
    const struct dh_site *last = w.own.n > 1 ? w.own.at[w.own.n - 1] : NULL;
    if (last && !writes(last) && last->flags & DH_SITE_POINTER && !is_looked_at_again(&w, 0)) {
        struct dh_draft_section *s =
            add_whole(d, group, function, because, "what it tests and reads is used until it returns");
        if (s)
            s->optional = true;
    }
    dh_vec_release(&w.own);
    dh_vec_release(&w.locks);
    dh_vec_release(&w.held);
}

/* Functions that access the group's variables more than once, and write, may come between others' accesses as well. */
static void add_writers(struct dh_draft *d, size_t group, const char *because)
{
    dh_text_vec functions = {0};
    for (uint32_t i = 0; i < d->sites->n_sites; i++)
        if (is_of(d, &d->groups.at[group], &d->sites->sites[i]) && writes(&d->sites->sites[i]))
            add_text(&functions, text(d, d->sites->sites[i].function));
    for (size_t i = 0; i < functions.n; i++)
        add_pairs(d, group, functions.at[i], because);
    release_texts(&functions);
}

static const char *function_of(const struct dh_finding_access *a)
{
    return a->stack.frames.n ? a->stack.frames.at[0].function : "";
}

/* The innermost activation that both stacks have in common, if it is not the function of the accesses. NULL: there is
 * none, or none is needed. */
static const char *common_function(const struct dh_finding_access *a, const struct dh_finding_access *b)
{
    const char *common = NULL;
    size_t i = a->stack.frames.n, k = b->stack.frames.n;
    while (i && k) {
        const struct dh_finding_frame *one = &a->stack.frames.at[--i], *other = &b->stack.frames.at[--k];
        if (!one->function[0] || strcmp(one->function, other->function) != 0)
            break;
        common = i || k ? one->function : NULL;
        if (one->line != other->line || one->column != other->column)
            break;
    }
    return common;
}

/* Two accesses of one thread in different activations, between which another thread accessed. */
static void add_spanning(struct dh_draft *d, size_t group, const struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        for (size_t k = i + 1; k < f->accesses.n; k++) {
            const struct dh_finding_access *a = &f->accesses.at[i], *b = &f->accesses.at[k];
            const char *function = a->thread == b->thread ? common_function(a, b) : NULL;
            struct dh_draft_section *s =
                function ? add_whole(d, group, function, f->id, "its parts belong together") : NULL;
            if (s)
                s->optional = s->spans = true;
        }
}

static const struct dh_site *site_named(const struct dh_draft *d, const char *name)
{
    for (uint32_t i = 0; i < d->sites->n_sites; i++)
        if (!strcmp(text(d, d->sites->sites[i].name), name))
            return &d->sites->sites[i];
    return NULL;
}

/* Members of one struct that one expression accesses are copied together, and should be atomic together. */
static void add_copied(const struct dh_draft *d, const struct dh_finding *f, dh_text_vec *variables)
{
    for (size_t i = 0; i < f->accesses.n; i++) {
        const struct dh_site *s = site_named(d, f->accesses.at[i].site);
        for (uint32_t k = 0; s && s->line && k < d->sites->n_sites; k++) {
            const struct dh_site *o = &d->sites->sites[k];
            if (o->op == s->op && o->function == s->function && o->line == s->line && o->column == s->column &&
                is_access(o) && o->field && s->field && has_text(variables, text(d, s->variable)))
                add_text(variables, text(d, o->variable));
        }
    }
}

static void heal_variable(struct dh_draft *d, const struct dh_finding *f)
{
    dh_text_vec variables = {0};
    split_variables(f->variable, &variables);
    if (!variables.n || !variables.at[0][0]) {
        leave_out(d, f->id, "nothing is known of the variable");
        release_texts(&variables);
        return;
    }
    add_copied(d, f, &variables);
    size_t group = group_of(d, &variables, DH_HEAL_LOCK);
    add_text(&d->groups.at[group].findings, f->id);
    if (f->kind != DH_FINDING_RACE)
        add_spanning(d, group, f);
    d->groups.at[group].of_views |= f->kind == DH_FINDING_VIEW;
    d->groups.at[group].of_steps |= f->kind != DH_FINDING_RACE;
    for (size_t i = 0; i < f->accesses.n; i++) {
        add_text(&d->groups.at[group].functions, function_of(&f->accesses.at[i]));
        add_pairs(d, group, function_of(&f->accesses.at[i]), f->id);
    }
    add_writers(d, group, f->id);
    release_texts(&variables);
}

/* A single access needs a section, too: each is one. */
static void add_single(struct dh_draft *d, size_t group)
{
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            return;
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        if (!is_of(d, &d->groups.at[group], s))
            continue;
        struct dh_draft_section *section =
            new_section(d, group, text(d, s->function), text(d, s->name), d->groups.at[group].findings.at[0],
                        dh_strdup("each access by itself"));
        if (section)
            add_text(&section->ends, text(d, s->name));
        return;
    }
}

static bool has_witness(const struct dh_finding *const *findings, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(findings[i]->id, id))
            return findings[i]->witness[0];
    return false;
}

/* A variable that only libraries access, by its address, has no site to enter a section at. A race with free may be the
 * consequence of another finding, as failures are. */
static void leave_out_empty(struct dh_draft *d, size_t group, const struct dh_finding *const *findings, size_t n)
{
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            return;
    for (size_t i = 0; i < d->groups.at[group].findings.n; i++)
        if (!d->sections.n || !has_witness(findings, n, d->groups.at[group].findings.at[i]))
            leave_out(d, d->groups.at[group].findings.at[i], "the program's own code does not access it by that name");
}

/* ---- order: reads that come too early ---- */

static bool access_writes(const struct dh_finding_access *a)
{
    return strstr(a->op, "write") != NULL;
}

bool dh_draft_may_wait(const struct dh_finding *f)
{
    return f->kind == DH_FINDING_RACE && f->accesses.n == 2 && f->variable[0] && f->variable[0] != '{' &&
           access_writes(&f->accesses.at[0]) != access_writes(&f->accesses.at[1]);
}

/* A lock makes the two mutually exclusive and still lets the read be the first: the read waits for the write. */
static void heal_late(struct dh_draft *d, const struct dh_finding *f)
{
    unsigned writer = access_writes(&f->accesses.at[1]);
    const struct dh_site *write = site_named(d, f->accesses.at[writer].site);
    const struct dh_site *read = site_named(d, f->accesses.at[!writer].site);
    dh_text_vec variables = {0};
    if (!write || !read) {
        leave_out(d, f->id, "where it is accessed is not known");
        return;
    }
    add_text(&variables, f->variable);
    size_t group = group_of(d, &variables, DH_HEAL_ORDER);
    add_text(&d->groups.at[group].findings, f->id);
    char *why = dh_format("before %s is read at line %u it must have been written at line %u", f->variable, read->line,
                          write->line);
    struct dh_draft_section *s = new_section(d, group, text(d, read->function), text(d, read->name), f->id, why);
    if (s)
        add_text(&s->ends, text(d, write->name));
    release_texts(&variables);
}

/* ---- gates: cycles of locks ---- */

static const struct dh_site *lock_at(const struct dh_draft *d, const struct dh_finding_stack *stack)
{
    for (size_t k = 0; k < stack->frames.n; k++)
        for (uint32_t i = 0; i < d->sites->n_sites; i++) {
            const struct dh_site *s = &d->sites->sites[i];
            const struct dh_finding_frame *f = &stack->frames.at[k];
            if ((s->op == DH_OP_LOCK || s->op == DH_OP_RDLOCK) && s->line == f->line &&
                same_function(text(d, s->function), f->function))
                return s;
        }
    return NULL;
}

/* The lock of the cycle that the thread acquired first: as the finding has it, or the first of that function. */
static const struct dh_site *first_lock(const struct dh_draft *d, const struct dh_finding_access *a,
                                        const struct dh_site *inner)
{
    for (size_t i = 0; i < a->locks.n; i++) {
        const struct dh_site *s = lock_at(d, &a->locks.at[i].taken);
        if (s && s != inner)
            return s;
    }
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        if ((s->op == DH_OP_LOCK || s->op == DH_OP_RDLOCK) && s != inner &&
            !strcmp(text(d, s->function), text(d, inner->function)))
            return s;
    }
    return NULL;
}

/* The name that the lock has everywhere: one that is reached by a pointer is named by its site. */
static const char *name_of_lock(const struct dh_draft *d, const struct dh_finding_access *a)
{
    const struct dh_site *s = site_named(d, a->site);
    for (uint32_t i = 0; i < d->sites->n_sites; i++)
        if (!strcmp(text(d, d->sites->sites[i].variable), a->object))
            return a->object;
    return s ? text(d, s->variable) : a->object;
}

/* A critical section of the function begins there, by a lock call or the call of a wrapper, before the call that the
 * frame is in. */
static bool begins_before(const struct dh_draft *d, const struct dh_scope_row *r, const struct dh_finding_frame *f)
{
    const struct dh_site *s = r->site < d->sites->n_sites ? &d->sites->sites[r->site] : NULL;
    uint32_t line = s ? s->line : r->line, column = s ? s->column : r->column;
    return same_function(text(d, s ? s->function : r->function), f->function) &&
           (line < f->line || (line == f->line && column < f->column));
}

/* The function that acquired the first lock and reached the second, itself or by calls, when one wrapper acquires all
 * locks: the innermost one with a critical section begun before. NULL: there is none. */
static const char *function_of_both(const struct dh_draft *d, const struct dh_finding_access *a)
{
    for (size_t k = 0; d->scopes && k < a->stack.frames.n; k++) {
        const struct dh_finding_frame *f = &a->stack.frames.at[k];
        for (uint32_t i = 0; !dh_finding_is_foreign(f) && i < d->scopes->n_rows; i++)
            if (begins_before(d, &d->scopes->rows[i], f))
                return f->function;
    }
    return NULL;
}

/* A thread that holds both locks leaves the gate; so does one that releases the first without acquiring the second. */
static void add_gate(struct dh_draft *d, size_t group, const struct dh_finding *f, const struct dh_finding_access *a)
{
    const struct dh_site *inner = site_named(d, a->site);
    const struct dh_site *outer = inner ? first_lock(d, a, inner) : NULL;
    const char *function = outer ? NULL : function_of_both(d, a);
    if (function)
        add_whole(d, group, function, f->id, "it takes one lock and then another: one thread at a time");
    if (!outer)
        return;
    char *why = dh_format("from the first lock at line %u to the second at line %u: one thread at a time", outer->line,
                          inner->line);
    struct dh_draft_section *s = new_section(d, group, text(d, outer->function), text(d, outer->name), f->id, why);
    if (s)
        add_text(&s->ends, text(d, inner->name));
}

static void heal_deadlock(struct dh_draft *d, const struct dh_finding *f)
{
    dh_text_vec locks = {0};
    unsigned takers = 0;
    for (size_t i = 0; i < f->accesses.n; i++)
        if (dh_finding_takes_lock(&f->accesses.at[i]) && f->accesses.at[i].object[0]) {
            add_text(&locks, name_of_lock(d, &f->accesses.at[i])); /* others wait for threads, not for locks */
            takers++;
        }
    if (takers < 2) {
        leave_out(d, f->id, "it is no circle of threads that wait for locks: a gate does not help");
        release_texts(&locks);
        return;
    }
    size_t group = group_of(d, &locks, DH_HEAL_ORDER), before = d->sections.n;
    add_text(&d->groups.at[group].findings, f->id);
    for (size_t i = 0; i < f->accesses.n; i++)
        if (dh_finding_takes_lock(&f->accesses.at[i]))
            add_gate(d, group, f, &f->accesses.at[i]);
    if (d->sections.n == before)
        leave_out(d, f->id, "where its locks are taken is not known");
    release_texts(&locks);
}

static bool is_in_a_group(const struct dh_draft *d, const char *id)
{
    for (size_t g = 0; g < d->groups.n; g++)
        if (has_text(&d->groups.at[g].findings, id))
            return true;
    return false;
}

/* A failure with a witness is the consequence of another finding: it is verified along with that. */
void dh_draft_make(struct dh_draft *d, const struct dh_finding *const *findings, size_t n, const dh_text_vec *late)
{
    static const struct {
        enum dh_finding_kind kind;
        void (*heal)(struct dh_draft *, const struct dh_finding *);
    } ways[] = {{DH_FINDING_RACE, heal_variable},
                {DH_FINDING_ATOMICITY, heal_variable},
                {DH_FINDING_VIEW, heal_variable},
                {DH_FINDING_DEADLOCK, heal_deadlock}};
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < sizeof ways / sizeof *ways && ways[k].kind != findings[i]->kind)
            k++;
        if (has_text(late, findings[i]->id))
            heal_late(d, findings[i]);
        else if (k < sizeof ways / sizeof *ways)
            ways[k].heal(d, findings[i]);
        else if (!findings[i]->witness[0])
            leave_out(d, findings[i]->id, "there is no healing for what is of this kind");
    }
    for (size_t g = 0; g < d->groups.n; g++)
        if (d->groups.at[g].means == DH_HEAL_LOCK)
            add_single(d, g);
    for (size_t g = 0; g < d->groups.n; g++)
        if (d->groups.at[g].means == DH_HEAL_LOCK)
            leave_out_empty(d, g, findings, n);
    for (size_t i = 0; i < n && !d->sections.n; i++)
        if (!is_in_a_group(d, findings[i]->id) && findings[i]->witness[0])
            leave_out(d, findings[i]->id, "there is no healing for what is of this kind");
}

/* ---- sections of a file ---- */

static void add_section(struct dh_draft *d, const struct dh_sections *f, uint32_t number)
{
    dh_text_vec variables = {0};
    for (uint32_t i = 0; i < f->n_variables; i++)
        if (f->variables[i].section == number)
            add_text(&variables, f->names[f->variables[i].variable]);
    struct dh_draft_section s = {.name = dh_strdup(f->sections[number].name),
                                 .because = dh_strdup(""),
                                 .why = dh_strdup("as the section file has it"),
                                 .group = group_of(d, &variables, DH_HEAL_LOCK)};
    for (uint32_t i = 0; i < f->n_points; i++) {
        const struct dh_section_point *p = &f->points[i];
        if (p->section != number)
            continue;
        if (p->role == DH_SECTION_ENTRY)
            s.entry = dh_strdup(f->sites[p->site]);
        else if (p->role == DH_SECTION_EXIT)
            add_text(&s.exits, f->sites[p->site]);
        else {
            if (p->allow & DH_ALLOW_READ && s.ends.n < 64)
                s.reads_pass |= (uint64_t)1 << s.ends.n;
            add_text(&s.ends, f->sites[p->site]);
        }
    }
    const struct dh_site *site = site_named(d, s.entry);
    s.whole = site && site->op == DH_OP_FUNCTION;
    dh_vec_push(&d->sections, s);
    release_texts(&variables);
}

void dh_draft_sections(struct dh_draft *d, const struct dh_sections *f)
{
    for (uint32_t i = 0; i < f->n_sections; i++)
        add_section(d, f, i);
    for (size_t g = 0; g < d->groups.n; g++)
        add_text(&d->groups.at[g].findings, "");
}

/* ---- candidates: without findings ---- */

/* It has a name and may be shared. */
static bool may_be_shared(const struct dh_draft *d, const struct dh_site *s)
{
    const char *name = text(d, s->variable);
    return dh_op_info(s->op)->group == DH_GROUP_ACCESS && writes(s) && (s->flags & DH_SITE_GLOBAL || s->field) &&
           !(s->flags & (DH_SITE_LOCAL | DH_SITE_TLS | DH_SITE_ARTIFICIAL)) && *name && !strpbrk(name, "*()[]") &&
           strncmp(name, "std::", 5) != 0;
}

static bool is_grouped(const struct dh_draft *d, const char *variable)
{
    for (size_t g = 0; g < d->groups.n; g++)
        if (has_text(&d->groups.at[g].variables, variable))
            return true;
    return false;
}

unsigned dh_draft_candidates(struct dh_draft *d)
{
    enum { MOST_GROUPS = 60, MOST_SECTIONS = 250 };
    unsigned left = 0;
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        const char *name = text(d, s->variable);
        if (!may_be_shared(d, s) || is_grouped(d, name))
            continue;
        if (d->groups.n == MOST_GROUPS || d->sections.n >= MOST_SECTIONS) {
            left++;
            continue;
        }
        dh_text_vec one = {0};
        add_text(&one, name);
        size_t group = group_of(d, &one, DH_HEAL_LOCK);
        add_text(&d->groups.at[group].findings, "auto");
        for (uint32_t k = 0; k < d->sites->n_sites; k++)
            if (is_of(d, &d->groups.at[group], &d->sites->sites[k]))
                add_pairs(d, group, text(d, d->sites->sites[k].function), "auto");
        add_single(d, group);
        release_texts(&one);
    }
    return left;
}

/* ---- corrections after the safety check ---- */

static void remove_sections(struct dh_draft *d, size_t group)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group && !d->sections.at[i].whole)
            release_section(&d->sections.at[i]);
        else
            d->sections.at[kept++] = d->sections.at[i];
    d->sections.n = kept;
}

bool dh_draft_hoist(struct dh_draft *d, size_t group, const char *function)
{
    size_t before = d->sections.n;
    if (d->groups.at[group].means == DH_HEAL_LOCK)
        add_whole(d, group, function, d->groups.at[group].findings.at[0], "it takes locks itself, which come inside");
    return d->sections.n > before;
}

bool dh_draft_wait_earlier(struct dh_draft *d, size_t group, const char *section)
{
    for (size_t i = 0; i < d->sections.n; i++) {
        struct dh_draft_section *s = &d->sections.at[i];
        const struct dh_site *read = site_named(d, s->entry);
        const struct dh_site *function = s->group == group && !strcmp(s->name, section) && read && is_access(read)
                                             ? site_of_function(d, text(d, read->function))
                                             : NULL;
        if (!function)
            continue;
        char *why = dh_format("%s; that is waited for where %s begins, since a lock is held later", s->why,
                              text(d, function->function));
        free(s->why);
        free(s->entry);
        s->why = why;
        s->entry = dh_strdup(text(d, function->name));
        return true;
    }
    return false;
}

bool dh_draft_part(struct dh_draft *d, size_t group, const char *section, const char *why)
{
    for (size_t i = 0; i < d->sections.n; i++) {
        struct dh_draft_section *s = &d->sections.at[i];
        if (s->group != group || (s->whole && !s->optional) || strcmp(s->name, section) != 0)
            continue;
        if (s->spans)
            leave_out(d, s->because, why);
        release_section(s);
        for (size_t k = i + 1; k < d->sections.n; k++)
            d->sections.at[k - 1] = d->sections.at[k];
        d->sections.n--;
        if (d->groups.at[group].means == DH_HEAL_LOCK)
            add_single(d, group);
        return true;
    }
    return false;
}

static const char *function_of_site(const struct dh_draft *d, const char *name)
{
    for (uint32_t i = 0; i < d->sites->n_sites; i++)
        if (!strcmp(text(d, d->sites->sites[i].name), name))
            return text(d, d->sites->sites[i].function);
    return "";
}

static bool is_inside(const struct dh_draft *d, const struct dh_draft_section *s)
{
    const char *function = function_of_site(d, s->entry);
    for (size_t i = 0; !s->whole && i < d->sections.n; i++) {
        const struct dh_draft_section *other = &d->sections.at[i];
        if (other->group == s->group && other->whole && !strcmp(function_of_site(d, other->entry), function))
            return true;
    }
    return false;
}

void dh_draft_tidy(struct dh_draft *d)
{
    for (size_t i = 0; i < d->sections.n;) {
        if (d->groups.at[d->sections.at[i].group].means != DH_HEAL_LOCK || !is_inside(d, &d->sections.at[i])) {
            i++;
            continue;
        }
        release_section(&d->sections.at[i]);
        for (size_t k = i + 1; k < d->sections.n; k++)
            d->sections.at[k - 1] = d->sections.at[k];
        d->sections.n--;
    }
}

/* Sections are the accesses again. */
static void begin_anew(struct dh_draft *d, size_t group)
{
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            d->sections.at[i].whole = false;
    remove_sections(d, group);
    add_writers(d, group, d->groups.at[group].findings.at[0]);
    add_single(d, group);
}

bool dh_draft_split(struct dh_draft *d, size_t group)
{
    struct dh_draft_group *g = &d->groups.at[group];
    if (g->is_split || g->of_steps || g->means != DH_HEAL_LOCK)
        return false;
    g->is_split = true;
    begin_anew(d, group);
    return true;
}

void dh_draft_weaken(struct dh_draft *d, size_t group, enum dh_heal_means means, const char *why)
{
    struct dh_draft_group *g = &d->groups.at[group];
    g->means = means;
    free(g->weaker);
    g->weaker = dh_strdup(why);
    begin_anew(d, group); /* without a lock there is nothing to enter before */
}

void dh_draft_drop(struct dh_draft *d, size_t group, const char *why)
{
    for (size_t i = 0; i < d->groups.at[group].findings.n; i++)
        leave_out(d, d->groups.at[group].findings.at[i], why);
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            d->sections.at[i].whole = false;
    remove_sections(d, group);
}
