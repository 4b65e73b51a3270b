#include "cmd/scan_alike.h"

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

static bool same(const char *a, size_t n_a, const char *b, size_t n_b)
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

static bool may_be_alike(const struct dh_whole_program *w, const struct dh_site *p, const struct dh_site *q)
{
    const char *a = dh_site_string(&w->sites, p->variable), *b = dh_site_string(&w->sites, q->variable);
    if (p->variable == q->variable || !a[0] || !b[0] || strstr(a, "union ") || strstr(b, "union "))
        return true;
    if (differ_in_atomicity(dh_site_string(&w->sites, p->type), dh_site_string(&w->sites, q->type)))
        return false;
    struct field f = field_of(a), g = field_of(b);
    return !f.owner || !g.owner || same(f.name, f.n_name, g.name, g.n_name) ||
           same(f.owner, f.n_owner, g.owner, g.n_owner) || is_inside(a, b) || is_inside(b, a);
}

/* As the site of an instruction says, or its place. */
static const char *variable_of(const struct dh_whole_program *w, uint32_t inst)
{
    const struct dh_inst *i = &w->program.insts.at[inst];
    if (i->site < w->sites.n_sites)
        return dh_site_string(&w->sites, w->sites.sites[i->site].variable);
    return dh_program_string(&w->program, w->program.places.at[i->place].variable);
}

/* An object of the library that is accessed as a whole is no lock. */
static bool is_lock_and_object(const struct dh_whole_program *w, const struct dh_inst *lock,
                               const struct dh_inst *object)
{
    const char *type = dh_program_string(&w->program, w->program.places.at[object->place].type);
    return dh_inst_class(lock) == DH_CLASS_SYNC && object->flags & DH_INST_LIBRARY && type[0] && !strstr(type, "mutex");
}

bool dh_scan_alike(void *self, uint32_t one, uint32_t other)
{
    const struct dh_whole_program *w = self;
    const struct dh_inst *i = &w->program.insts.at[one], *k = &w->program.insts.at[other];
    bool known = i->site < w->sites.n_sites && k->site < w->sites.n_sites;
    if (is_lock_and_object(w, i, k) || is_lock_and_object(w, k, i))
        return false;
    return !known || !is_scalar(i) || !is_scalar(k) ||
           may_be_alike(w, &w->sites.sites[i->site], &w->sites.sites[k->site]);
}

static uint32_t hash_of(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return n ? h | 1 : 0;
}

uint32_t dh_scan_full_name(void *self, uint32_t inst)
{
    const char *variable = variable_of(self, inst);
    return hash_of(variable, strlen(variable));
}

uint32_t dh_scan_name(void *self, uint32_t inst)
{
    const char *variable = variable_of(self, inst);
    struct field f = field_of(variable);
    return f.owner ? hash_of(f.name, f.n_name) | 1 : hash_of(variable, strlen(variable));
}
