#include "analysis/source_names.h"

#include "base/str.h"

#include <string.h>

/* "struct mp_cell.data[]": field "data" of "mp_cell". */
struct field {
    const char *owner, *name; /* owner NULL: not a field */
    size_t n_owner, n_name;
};

static size_t without_indices(const char *text, size_t n)
{
    while (n > 1 && text[n - 1] == ']') {
        while (n && text[n - 1] != '[')
            n--;
        n -= n > 0;
    }
    return n;
}

/* Dots inside of template arguments and the like are none. */
static const char *last_dot(const char *text, size_t n)
{
    int depth = 0;
    for (size_t at = n; at-- > 0;) {
        depth += text[at] == '>' || text[at] == ')';
        depth -= text[at] == '<' || text[at] == '(';
        if (text[at] == '.' && depth == 0)
            return text + at;
    }
    return NULL;
}

static struct field field_of(const char *variable)
{
    struct field f = {0};
    size_t n = without_indices(variable, strlen(variable));
    const char *dot = variable[0] == '*' ? NULL : last_dot(variable, n);
    if (!dot)
        return f;
    f.name = dot + 1;
    f.n_name = (size_t)(variable + n - f.name);
    f.owner = variable;
    f.n_owner = without_indices(variable, (size_t)(dot - variable));
    dot = last_dot(f.owner, f.n_owner);
    if (dot) {
        f.n_owner -= (size_t)(dot + 1 - f.owner);
        f.owner = dot + 1;
    }
    return f;
}

static bool same_name(const char *a, size_t n_a, const char *b, size_t n_b)
{
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

static bool is_inside(const char *whole, const char *part)
{
    size_t n = strlen(whole);
    return strncmp(whole, part, n) == 0 && (part[n] == '.' || part[n] == '[' || part[n] == '\0');
}

static bool is_atomic(const char *type)
{
    return dh_starts_with(type, "atomic_") || dh_starts_with(type, "_Atomic") || dh_starts_with(type, "std::atomic");
}

static bool is_scalar(const struct dh_inst *i)
{
    return (i->op == DH_I_LOAD || i->op == DH_I_STORE || i->op == DH_I_RMW || i->op == DH_I_CAS) && i->size &&
           i->size <= 8 && !(i->flags & DH_INST_LIBRARY);
}

/* Both declared, one atomic and the other not: no declaration says both. */
static bool differ_in_atomicity(const char *a, const char *b)
{
    return a[0] && b[0] && is_atomic(a) != is_atomic(b);
}

static bool may_be_same(const struct dh_site_table *t, const struct dh_site *p, const struct dh_site *q)
{
    const char *a = dh_site_string(t, p->variable), *b = dh_site_string(t, q->variable);
    if (p->variable == q->variable || !a[0] || !b[0] || strstr(a, "union ") || strstr(b, "union "))
        return true;
    if (differ_in_atomicity(dh_site_string(t, p->type), dh_site_string(t, q->type)))
        return false;
    struct field f = field_of(a), g = field_of(b);
    return !f.owner || !g.owner || same_name(f.name, f.n_name, g.name, g.n_name) ||
           same_name(f.owner, f.n_owner, g.owner, g.n_owner) || is_inside(a, b) || is_inside(b, a);
}

const struct dh_site *dh_source_site(const struct dh_symex *w, uint32_t inst)
{
    uint32_t site = w->program->insts.at[inst].site;
    return w->sites && site < w->sites->n_sites ? &w->sites->sites[site] : NULL;
}

static const char *site_variable(const struct dh_symex *w, uint32_t inst)
{
    const struct dh_site *s = dh_source_site(w, inst);
    return s ? dh_site_string(w->sites, s->variable) : "";
}

/* As the site of an instruction says, or its place. */
static const char *variable_of(const struct dh_symex *w, uint32_t inst)
{
    const struct dh_program *p = w->program;
    return dh_source_site(w, inst) ? site_variable(w, inst)
                                   : dh_program_string(p, p->places.at[p->insts.at[inst].place].variable);
}

/* An object of the library that is accessed as a whole is no lock. */
static bool is_lock_and_object(const struct dh_program *p, const struct dh_inst *lock, const struct dh_inst *object)
{
    const char *type = dh_program_string(p, p->places.at[object->place].type);
    return dh_inst_class(lock) == DH_CLASS_SYNC && object->flags & DH_INST_LIBRARY && type[0] && !strstr(type, "mutex");
}

bool dh_source_may_be_same(const struct dh_symex *w, uint32_t one, uint32_t other)
{
    const struct dh_inst *i = &w->program->insts.at[one], *k = &w->program->insts.at[other];
    const struct dh_site *a = dh_source_site(w, one), *b = dh_source_site(w, other);
    if (is_lock_and_object(w->program, i, k) || is_lock_and_object(w->program, k, i))
        return false;
    return !a || !b || !is_scalar(i) || !is_scalar(k) || may_be_same(w->sites, a, b);
}

bool dh_source_fields_differ(const struct dh_symex *w, uint32_t one, uint32_t other)
{
    const char *a = site_variable(w, one), *b = site_variable(w, other);
    return dh_starts_with(a, "struct ") && dh_starts_with(b, "struct ") && strcmp(a, b) != 0;
}

/* ---- numbers for names ---- */

static uint32_t hash_of(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return n ? h | 1 : 0;
}

uint32_t dh_source_variable_id(const struct dh_symex *w, uint32_t inst)
{
    const char *variable = variable_of(w, inst);
    return hash_of(variable, strlen(variable));
}

uint32_t dh_source_field_id(const struct dh_symex *w, uint32_t inst)
{
    const char *variable = variable_of(w, inst);
    struct field f = field_of(variable);
    return f.owner ? hash_of(f.name, f.n_name) | 1 : hash_of(variable, strlen(variable));
}

/* ---- objects, locks, threads ---- */

/* Nothing writes to a constant: it is only what something else was unified with. */
const struct dh_global *dh_source_global(const struct dh_symex *w, uint32_t node, int32_t *offset)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[node].origin, at = first;
    for (bool again = first != DH_NO_NODE; again; again = at != first) {
        const struct dh_heap_origin *o = &g->origins.at[at];
        const struct dh_global *global = o->kind == DH_ORIGIN_GLOBAL ? &w->program->globals.at[o->index] : NULL;
        if (global && !(global->flags & DH_GLOBAL_CONSTANT)) {
            *offset = dh_heap_graph_find((struct dh_heap_graph *)g, (struct dh_heap_cell){o->node, 0}).offset;
            return global;
        }
        at = o->next;
    }
    return NULL;
}

/* "accounts_lock", "struct account.lock": by the instruction that acquires it, else by the global it is. */
char *dh_source_lock(const struct dh_symex *w, const struct dh_symex_lock *h)
{
    const struct dh_program *p = w->program;
    const struct dh_site *s = h->inst < p->insts.n ? dh_source_site(w, h->inst) : NULL;
    const char *variable = s ? dh_site_string(w->sites, s->variable) : "";
    const char *declared =
        !s && h->inst < p->insts.n ? dh_program_string(p, p->places.at[p->insts.at[h->inst].place].variable) : "";
    int32_t offset;
    const struct dh_global *g = dh_source_global(w, h->node, &offset);
    bool by_pointer = h->sync_kind && g && variable[0] == '*'; /* the global's name says more than the pointer's */
    if (variable[0] && !by_pointer && strcmp(variable, dh_site_string(w->sites, s->type)) != 0)
        return dh_strdup(variable);
    if (declared[0])
        return dh_strdup(declared);
    if (g)
        return dh_strdup(dh_program_string(p, g->source));
    return s ? dh_format("%s (%s:%u)", variable, dh_basename(dh_site_string(w->sites, s->file)), s->line)
             : dh_strdup("a lock");
}

const char *dh_source_function(const struct dh_program *p, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    return dh_program_string(p, f->source ? f->source : f->name);
}

const char *dh_source_thread(const struct dh_symex *w, uint32_t thread)
{
    return dh_source_function(w->program, w->threads.at[thread].function);
}
