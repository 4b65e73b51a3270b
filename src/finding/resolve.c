#include "finding/resolve.h"

#include "base/alloc.h"
#include "base/str.h"
#include "event/site.h"
#include "finding/modules.h"
#include "finding/value_text.h"

#include <stdlib.h>
#include <string.h>

struct dh_finding_resolver {
    struct dh_modules *modules;
};

/* One finding being resolved. */
enum { NAMELESS = 32 };

struct job {
    struct dh_modules *modules;
    const struct dh_log_finding *from;
    struct dh_finding *out;
    uint64_t nameless[NAMELESS]; /* addresses of objects without a name, in the order in which they are met */
    unsigned n_nameless;
};

struct dh_finding_resolver *dh_resolver_new(void)
{
    struct dh_finding_resolver *r = DH_NEW(struct dh_finding_resolver);
    r->modules = dh_modules_new();
    return r;
}

void dh_resolver_free(struct dh_finding_resolver *r)
{
    if (!r)
        return;
    dh_modules_free(r->modules);
    free(r);
}

struct dh_modules *dh_resolver_modules(struct dh_finding_resolver *r)
{
    return r->modules;
}

static struct dh_known_module *module_of(struct job *j, uint32_t index)
{
    if (index >= j->from->n_modules)
        return NULL;
    return dh_modules_get(j->modules, j->from->modules[index].path, j->from->modules[index].id);
}

/* ---- stacks ---- */

static void add_unknown(struct dh_finding_stack *out, uint64_t offset)
{
    struct dh_finding_frame f = {dh_strdup(""), dh_strdup(""), 0, 0, dh_strdup(""), offset};
    dh_vec_push(&out->frames, f);
}

static void pop_frame(struct dh_finding_stack *s)
{
    struct dh_finding_frame *f = &s->frames.at[--s->frames.n];
    free(f->function);
    free(f->file);
    free(f->module);
}

static bool is_libc(const char *module)
{
    return dh_starts_with(dh_basename(module), "libc.so");
}

static bool has_no_source(const struct dh_finding_frame *f)
{
    return !f->file[0] || is_libc(f->module);
}

/* Skips libc's frames below main and below thread functions: symbolizing them takes longer than all the rest. */
static uint32_t frames_worth_naming(struct job *j, const struct dh_log_stack *from, uint32_t least)
{
    uint32_t n = from->n_frames;
    while (n > least && from->frames[n - 1].module != DH_LOG_NONE &&
           is_libc(j->from->modules[from->frames[n - 1].module].path))
        n--;
    return n;
}

/* Drops frames below main, and outermost frames of libraries without debug information. */
static void trim(struct dh_finding_stack *s, size_t keep)
{
    for (size_t i = 0; i < s->frames.n; i++)
        if (strcmp(s->frames.at[i].function, "main") == 0 && s->frames.at[i].file[0]) {
            while (s->frames.n > i + 1)
                pop_frame(s);
        }
    while (s->frames.n > keep && has_no_source(&s->frames.at[s->frames.n - 1]))
        pop_frame(s);
}

/* The runtime stands between libc and the program's handlers (interpose_signal.c, interpose_process.c). */
static void leave_out_runtime(struct dh_finding_stack *s)
{
    while (s->frames.n && dh_starts_with(s->frames.at[s->frames.n - 1].function, "__dh_"))
        pop_frame(s);
}

static void add_stack(struct job *j, const struct dh_log_stack *from, struct dh_finding_stack *out)
{
    uint32_t n = frames_worth_naming(j, from, out->frames.n ? 0 : 1);
    for (uint32_t i = 0; i < n; i++) {
        if (from->n_cut && i + DH_LOG_OUTER == from->n_frames)
            out->cut = out->frames.n;
        struct dh_known_module *m = module_of(j, from->frames[i].module);
        if (m)
            dh_known_frames(j->modules, m, from->frames[i].offset, out);
        else
            add_unknown(out, from->frames[i].offset);
        leave_out_runtime(out);
    }
    out->n_cut = from->n_cut;
    trim(out, 1);
}

static bool is_same_spot(const struct dh_finding_frame *a, const struct dh_finding_frame *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->function, b->function) == 0 &&
           strcmp(dh_basename(a->file), dh_basename(b->file)) == 0;
}

/* A stack begins with the call, whose place may have added the same frames already; removes the duplicates. */
static void add_stack_of_call(struct job *j, const struct dh_log_stack *from, struct dh_finding_stack *out)
{
    size_t places = out->frames.n;
    add_stack(j, from, out);
    for (size_t i = 0; i < places; i++)
        if (places + i >= out->frames.n || !is_same_spot(&out->frames.at[i], &out->frames.at[places + i]))
            return;
    for (size_t i = places; places && i < out->frames.n; i++) {
        struct dh_finding_frame other = out->frames.at[i - places];
        out->frames.at[i - places] = out->frames.at[i];
        out->frames.at[i] = other;
    }
    for (size_t i = 0; i < places; i++)
        pop_frame(out);
    out->cut -= out->cut >= places ? places : 0;
}

static void add_source_frame(struct dh_finding_stack *out, const struct dh_site_table *t, uint32_t function,
                             uint32_t file, unsigned line, unsigned column)
{
    struct dh_finding_frame f = {
        .function = dh_strdup(dh_site_string(t, function)),
        .file = dh_path_as_compiled(dh_site_string(t, file), NULL),
        .line = line,
        .column = column,
        .module = dh_strdup(""),
    };
    dh_vec_push(&out->frames, f);
}

/* ---- accesses ---- */

static const char *op_of(uint32_t flags)
{
    bool atomic = flags & DH_LOG_ATOMIC, write = flags & DH_LOG_WRITE;
    if (flags & DH_LOG_FREE)
        return "free";
    if (flags & DH_LOG_ALLOC)
        return "alloc";
    return atomic ? (write ? "atomic write" : "atomic read") : write ? "write" : "read";
}

/* x += 1 reads and writes at one source location: to users that is one access, so the read gets the write's name. */
static const struct dh_site *writing_half(const struct dh_site_table *t, const struct dh_site *s)
{
    for (uint32_t i = 0; s->op == DH_OP_READ && s->line && i < t->n_sites; i++) {
        const struct dh_site *w = &t->sites[i];
        if (w->op == DH_OP_WRITE && w->line == s->line && w->column == s->column && w->file == s->file &&
            w->function == s->function && w->variable == s->variable)
            return w;
    }
    return s;
}

/* A copy reads one thing and writes another; the site is named after what it writes. If nothing is known of what it
 * reads, the other access names the variable. */
static void name_variable(const struct dh_site_table *t, const struct dh_site *s, const struct dh_log_access *from,
                          struct dh_finding_access *a)
{
    bool reads = (s->op == DH_OP_COPY || s->op == DH_OP_MOVE) && !(from->flags & DH_LOG_WRITE);
    dh_finding_set(&a->variable, dh_site_string(t, reads ? s->source : s->variable));
    dh_finding_set(&a->type, dh_site_string(t, reads ? s->source_type : s->type));
    dh_finding_set(&a->expr, dh_site_string(t, reads ? s->source : s->expr));
}

/* The row of a place, its frame and those it was inlined through; NULL when it has none. */
static const struct dh_site *add_place_frames(struct job *j, uint32_t module, uint32_t place,
                                              struct dh_finding_stack *out, const struct dh_site_table **sites)
{
    struct dh_known_module *m = module_of(j, module);
    const struct dh_site_table *chains;
    const struct dh_site *s = NULL;
    uint32_t site, chain;
    *sites = m ? dh_known_sites(m) : NULL;
    if (!*sites || !dh_place_find(dh_known_places(m), *sites, place, &site, &chain, &chains))
        return NULL;
    if (site != DH_NO_SITE) {
        s = &(*sites)->sites[site];
        add_source_frame(out, *sites, s->function, s->file, s->line, s->column);
    }
    for (; chain < chains->n_chains; chain = chains->chains[chain].next) {
        const struct dh_chain *c = &chains->chains[chain];
        add_source_frame(out, chains, c->function, c->file, c->line, c->column);
    }
    return s;
}

static void add_place(struct job *j, const struct dh_log_access *from, struct dh_finding_access *a)
{
    const struct dh_site_table *sites;
    const struct dh_site *s = add_place_frames(j, from->module, from->place, &a->stack, &sites);
    if (s) {
        dh_finding_set(&a->site, dh_site_string(sites, writing_half(sites, s)->name));
        name_variable(sites, s, from, a);
        /* The optimiser may keep a variable in fewer bytes; the reader knows the source's, whose value they are not. */
        a->shrunk = !(from->flags & DH_LOG_BY_LIBRARY) && from->size && from->size < s->size;
        if (a->shrunk)
            a->size = s->size;
        if (dh_op_info(s->op)->group == DH_GROUP_SYNC && !from->role)
            dh_finding_set(&a->op, dh_op_info(s->op)->name);
        if (from->flags & DH_LOG_BY_LIBRARY || from->role == DH_ROLE_OTHER_WAIT)
            dh_finding_set(&a->callee, dh_site_string(sites, s->callee));
    }
}

/* Without a site: the innermost named function, and what was done. */
static void name_by_stack(struct dh_finding_access *a)
{
    for (size_t i = 0; i < a->stack.frames.n; i++) {
        const struct dh_finding_frame *f = &a->stack.frames.at[i];
        if (!f->function[0])
            continue;
        free(a->site);
        a->site = dh_format("%s:%s:?:%s", dh_basename(f->file[0] ? f->file : f->module), f->function, a->op);
        return;
    }
    free(a->site);
    a->site = dh_format("?:%s", a->op);
}

static void fill_value(const struct dh_log_access *from, struct dh_finding_access *a)
{
    uint8_t bytes[8];
    if (!(from->flags & DH_LOG_HAS_VALUE) || a->shrunk || !from->size || from->size > sizeof bytes)
        return;
    memcpy(bytes, &from->value, sizeof bytes);
    free(a->value);
    a->value = dh_value_text(bytes, from->size, a->type);
}

/* ---- locks ---- */

/* The call that took it, by its place in the source; likewise one that wrote memory, of that group. */
static const struct dh_site *call_site(const struct dh_site_table *t, const struct dh_finding_frame *f,
                                       enum dh_group group)
{
    const struct dh_site *on_line = NULL;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        if (s->line != f->line || dh_op_info(s->op)->group != group ||
            strcmp(dh_basename(dh_site_string(t, s->file)), dh_basename(f->file)) != 0)
            continue;
        if (s->column == f->column)
            return s;
        on_line = s;
    }
    return on_line;
}

/* The name of the global around it, owned by the caller; NULL when it is none. */
static char *data_name(struct job *j, const struct dh_log_address *where)
{
    struct dh_known_module *m = module_of(j, where->module);
    struct dh_source_variable data;
    if (!m || !dh_known_variable(j->modules, m, where->offset, &data))
        return NULL;
    char *name = dh_strdup(data.name);
    dh_source_variable_release(&data);
    return name;
}

/* Addresses differ from run to run: the number of the object within its finding does not. */
static unsigned number_of(struct job *j, uint64_t address)
{
    unsigned i = 0;
    while (i < j->n_nameless && j->nameless[i] != address)
        i++;
    if (i == j->n_nameless && i < NAMELESS)
        j->nameless[j->n_nameless++] = address;
    return i + 1;
}

/* The name in the source, or the number of an object that is reached through a pointer without a name. */
static char *object_name(struct job *j, const char *variable, const char *type, const char *sort, uint64_t address)
{
    if (variable[0] && strcmp(variable, type) != 0)
        return dh_strdup(variable);
    return dh_format("%s #%u", type[0] ? type : sort, number_of(j, address));
}

static const struct dh_site *site_of_call(struct job *j, const struct dh_log_stack *from,
                                          const struct dh_finding_stack *named, enum dh_group group,
                                          const struct dh_site_table **t)
{
    struct dh_known_module *m = from->n_frames ? module_of(j, from->frames[0].module) : NULL;
    *t = m ? dh_known_sites(m) : NULL;
    return *t && named->frames.n ? call_site(*t, &named->frames.at[0], group) : NULL;
}

static void add_lock(struct job *j, const struct dh_log_lock *from, struct dh_finding_access *a)
{
    struct dh_finding_lock l = {.shared = from->shared, .name = data_name(j, &from->where)};
    const struct dh_site_table *t;
    const struct dh_site *s = add_place_frames(j, from->module, from->place, &l.taken, &t);
    add_stack_of_call(j, &from->taken, &l.taken);
    if (!l.name && !s)
        s = site_of_call(j, &from->taken, &l.taken, DH_GROUP_SYNC, &t);
    if (!l.name)
        l.name = object_name(j, s ? dh_site_string(t, s->variable) : "", s ? dh_site_string(t, s->type) : "", "lock",
                             from->address);
    dh_vec_push(&a->locks, l);
}

static bool is_on_spot(const struct dh_site_table *t, const struct dh_site *s, const struct dh_finding_frame *f)
{
    return s->line == f->line && s->column == f->column && strcmp(dh_site_string(t, s->function), f->function) == 0;
}

/* An annotation is checked beside the access and has no place: it is the access at the same source location, of the
 * same size where a macro has several. */
static void name_by_spot(struct job *j, const struct dh_log_access *from, struct dh_finding_access *a)
{
    struct dh_known_module *m = from->stack.n_frames ? module_of(j, from->stack.frames[0].module) : NULL;
    const struct dh_site_table *t = m ? dh_known_sites(m) : NULL;
    const struct dh_finding_frame *f = a->stack.frames.n ? &a->stack.frames.at[0] : NULL;
    const struct dh_site *found = NULL;
    enum dh_op op = from->flags & DH_LOG_WRITE ? DH_OP_WRITE : DH_OP_READ;
    for (uint32_t i = 0; t && f && f->line && i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        if (s->op == op && s->size == from->size && is_on_spot(t, s, f))
            found = s;
    }
    if (!found)
        return;
    dh_finding_set(&a->site, dh_site_string(t, writing_half(t, found)->name));
    name_variable(t, found, from, a);
}

/* What a library function wrote, where its call has no hook that says which one it is. */
static void name_by_call(struct job *j, const struct dh_log_access *from, struct dh_finding_access *a)
{
    const struct dh_site_table *t;
    const struct dh_site *s = site_of_call(j, &from->stack, &a->stack, DH_GROUP_MEMORY, &t);
    if (!s || !is_on_spot(t, s, &a->stack.frames.at[0]))
        return;
    dh_finding_set(&a->site, dh_site_string(t, s->name));
    dh_finding_set(&a->callee, dh_site_string(t, s->callee));
    name_variable(t, s, from, a);
}

static char *thread_words(const struct dh_finding *f, uint32_t index)
{
    const struct dh_finding_thread *t = dh_finding_thread(f, index);
    if (index == 0)
        return dh_strdup("the main thread");
    return t && t->name[0] ? dh_format("thread T%u '%s'", index, t->name) : dh_format("thread T%u", index);
}

/* A wait in poll, read or sigwait has no object with a name: the call is what it waits in. */
static void move_call_to_object(const struct dh_log_access *from, struct dh_finding_access *a)
{
    if (from->role == DH_ROLE_OTHER_WAIT && a->callee[0]) {
        free(a->object);
        a->object = dh_format("%s()", a->callee);
    }
    if (!(from->flags & DH_LOG_BY_LIBRARY))
        dh_finding_set(&a->callee, "");
}

/* What is acquired or waited for. Interposed calls have no place: the sync site at the same source location names it.
 */
static void name_object(struct job *j, const struct dh_log_access *from, struct dh_finding_access *a)
{
    const struct dh_site_table *t;
    const struct dh_site *s = a->site[0] ? NULL : site_of_call(j, &from->stack, &a->stack, DH_GROUP_SYNC, &t);
    const char *sort = dh_log_role_words(from->role)->object;
    if (s) {
        dh_finding_set(&a->site, dh_site_string(t, s->name));
        dh_finding_set(&a->variable, dh_site_string(t, s->variable));
        dh_finding_set(&a->type, dh_site_string(t, s->type));
        dh_finding_set(&a->callee, dh_site_string(t, s->callee));
    }
    move_call_to_object(from, a);
    if (a->object[0] || !sort[0] || (from->role == DH_ROLE_CALL && !a->type[0]))
        return;
    char *name =
        from->role == DH_ROLE_JOIN ? thread_words(j->out, (uint32_t)from->address) : data_name(j, &from->where);
    free(a->object);
    a->object = name ? name : object_name(j, a->variable, a->type, sort, from->address);
}

static const char *what_it_is(const struct job *j, const struct dh_log_access *from)
{
    bool annotation = j->from->kind == DH_FINDING_ANNOTATION;
    if (from->role)
        return dh_log_role_words(from->role)->op;
    if (j->from->kind == DH_FINDING_LOCK_MISUSE || (annotation && !from->size))
        return "call";
    return annotation && j->out->accesses.n ? "transfer" : op_of(from->flags);
}

static void add_access(struct job *j, const struct dh_log_access *from)
{
    struct dh_finding_access a;
    dh_finding_access_init(&a);
    dh_finding_set(&a.op, what_it_is(j, from));
    dh_finding_set(&a.note, from->note);
    a.size = from->size;
    a.thread = from->thread;
    a.forgotten = from->flags & DH_LOG_NO_STACK;
    a.wrote = from->flags & DH_LOG_WRITE;
    add_place(j, from, &a);
    (from->role || from->flags & DH_LOG_BY_LIBRARY ? add_stack_of_call : add_stack)(j, &from->stack, &a.stack);
    if (from->role)
        name_object(j, from, &a);
    if (!a.site[0] && j->from->kind == DH_FINDING_ANNOTATION && from->size && !j->out->accesses.n)
        name_by_spot(j, from, &a);
    if (!a.site[0] && from->flags & DH_LOG_BY_LIBRARY)
        name_by_call(j, from, &a);
    if (!a.site[0])
        name_by_stack(&a);
    fill_value(from, &a);
    for (uint32_t i = 0; i < from->n_locks; i++)
        add_lock(j, &from->locks[i], &a);
    dh_vec_push(&j->out->accesses, a);
}

/* ---- the object ---- */

static bool names_something(const char *variable)
{
    return variable[0] && variable[0] != '*';
}

static void fill_variable(struct dh_finding *f)
{
    const struct dh_finding_access *best = NULL;
    for (size_t i = 0; i < f->accesses.n; i++) {
        const struct dh_finding_access *a = &f->accesses.at[i];
        if (!best || (names_something(a->variable) && !names_something(best->variable)))
            best = a;
    }
    if (best) {
        dh_finding_set(&f->variable, best->variable);
        dh_finding_set(&f->type, best->type);
    }
}

static bool is_named_before(const struct dh_finding *f, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(f->accesses.at[k].object, f->accesses.at[i].object) == 0)
            return true;
    return false;
}

static const char *field_of(const char *variable)
{
    const char *dot = strrchr(variable, '.');
    return dot ? dot + 1 : variable;
}

/* "" for a variable already named, perhaps differently: "p.head" may be "struct pool.head". */
static const char *variable_at(const struct job *j, size_t i)
{
    const struct dh_finding_access *all = j->out->accesses.at;
    for (size_t k = 0; k < i; k++) {
        bool same_place = j->from->access[k].address && j->from->access[k].address == j->from->access[i].address;
        if (strcmp(all[k].variable, all[i].variable) == 0 ||
            (same_place && strcmp(field_of(all[k].variable), field_of(all[i].variable)) == 0))
            return "";
    }
    return names_something(all[i].variable) ? all[i].variable : "";
}

/* The variables of an atomicity or view violation: "{struct point.x, struct point.y}". */
static void fill_variables(const struct job *j)
{
    struct dh_finding *f = j->out;
    struct dh_str names = {0};
    unsigned n = 0;
    for (size_t i = 0; i < f->accesses.n; i++) {
        const char *name = variable_at(j, i);
        if (name[0])
            dh_str_addf(&names, "%s%s", n++ ? ", " : "{", name);
    }
    if (n > 1) {
        dh_str_add(&names, "}");
        dh_finding_set(&f->variable, names.at);
        dh_finding_set(&f->type, "");
    }
    dh_str_release(&names);
}

static void add_objects(struct dh_str *names, const struct dh_finding *f, bool all, bool locks)
{
    for (size_t i = 0; i < f->accesses.n && (all || !names->n); i++)
        if (f->accesses.at[i].object[0] && !is_named_before(f, i) &&
            (!locks || dh_finding_takes_lock(&f->accesses.at[i])))
            dh_str_addf(names, "%s%s", names->n ? ", " : "", f->accesses.at[i].object);
}

/* Of a deadlock all its locks, of other waits what is waited for. */
static void fill_variable_by_objects(struct dh_finding *f, bool all)
{
    struct dh_str names = {0};
    if (all)
        add_objects(&names, f, true, true);
    if (!names.n)
        add_objects(&names, f, all, false);
    if (names.n) {
        dh_finding_set(&f->variable, names.at);
        dh_finding_set(&f->type, "");
    }
    dh_str_release(&names);
}

static void fill_global(struct job *j)
{
    struct dh_known_module *m = module_of(j, j->from->where.module);
    struct dh_source_variable data;
    if (!m || !dh_known_variable(j->modules, m, j->from->where.offset, &data)) {
        dh_finding_set(&j->out->object, "global without a name");
        return;
    }
    char *file = dh_path_as_compiled(data.file ? data.file : "", data.directory);
    struct dh_str text = {0};
    dh_str_addf(&text, "global '%s' of size %llu", data.variable, (unsigned long long)data.size);
    if (data.file)
        dh_str_addf(&text, " declared at %s:%u", file, data.line);
    free(file);
    free(j->out->object);
    j->out->object = dh_str_take(&text);
    uint64_t at, size;
    if (dh_known_variable_extent(j->modules, m, j->from->where.offset, &at, &size)) {
        j->out->offset = j->from->where.offset - at;
        j->out->extent = size;
    }
    if (!names_something(j->out->variable))
        dh_finding_set(&j->out->variable, data.name);
    dh_source_variable_release(&data);
}

static void fill_object(struct job *j)
{
    const struct dh_log_finding *from = j->from;
    struct dh_finding *f = j->out;
    char *thread = thread_words(f, from->region_thread), *text = NULL;
    f->object_thread = from->region_thread;
    switch (from->region) {
    case DH_LOG_REGION_GLOBAL:
        fill_global(j);
        break;
    case DH_LOG_REGION_HEAP:
        text = dh_format("heap block of %llu bytes, at offset %llu", (unsigned long long)from->n_block,
                         (unsigned long long)(from->address - from->block));
        f->offset = from->address - from->block;
        f->extent = from->n_block;
        add_stack(j, &from->allocated, &f->allocated);
        break;
    case DH_LOG_REGION_STACK:
        text = dh_format("stack of %s", thread);
        break;
    case DH_LOG_REGION_TLS:
        text = dh_format("thread-local storage of %s", thread);
        break;
    }
    if (text)
        dh_finding_set(&f->object, text);
    free(text);
    free(thread);
}

/* Where no access names it. */
static void fill_variable_by_address(struct job *j)
{
    char *name = names_something(j->out->variable) ? NULL : data_name(j, &j->from->where);
    if (name)
        dh_finding_set(&j->out->variable, name);
    free(name);
}

static void fill_held(const struct dh_log_finding *from, struct dh_finding *f)
{
    /* Of a larger value only the beginning was kept. */
    bool whole = f->accesses.n && f->accesses.at[0].size == from->n_held;
    if (!from->n_held || (f->accesses.n && f->accesses.at[0].shrunk))
        return;
    free(f->held);
    f->held = dh_value_text(from->held, from->n_held, whole ? f->accesses.at[0].type : "");
}

static void add_thread(struct job *j, const struct dh_log_thread *from)
{
    struct dh_finding_thread t = {
        .index = from->index,
        .parent = from->parent,
        .name = dh_strdup(from->name),
        .state = dh_strdup(from->flags & DH_LOG_FINISHED ? "finished" : "running"),
    };
    add_stack(j, &from->created, &t.created);
    dh_vec_push(&j->out->threads, t);
}

/* A thread inherits its creator's name: the program's name is no thread name. */
static void drop_inherited_names(struct dh_finding *f)
{
    const struct dh_finding_thread *first = dh_finding_thread(f, 0);
    for (size_t i = 0; first && i < f->threads.n; i++)
        if (&f->threads.at[i] != first && strcmp(f->threads.at[i].name, first->name) == 0)
            f->threads.at[i].name[0] = 0;
}

static void fill_process(struct dh_finding *f, const struct dh_log_process *p)
{
    dh_finding_set(&f->program, p->original[0] ? p->original : p->path);
    f->pid = p->pid;
    struct dh_str id = {0};
    for (size_t i = 0; i < sizeof p->id; i++)
        dh_str_addf(&id, "%02x", p->id[i]);
    free(f->build);
    f->build = dh_str_take(&id);
}

void dh_resolve(struct dh_finding_resolver *r, const struct dh_log_process *p, const struct dh_log_finding *from,
                struct dh_finding *out)
{
    struct job j = {.modules = r->modules, .from = from, .out = out};
    dh_finding_init(out);
    out->kind = (enum dh_finding_kind)from->kind;
    out->level = (enum dh_finding_level)from->level;
    dh_finding_set(&out->detector, from->detector);
    out->verdict = DH_VERDICT_NONE;
    out->healing = DH_HEALING_NONE;
    dh_finding_set(&out->text, from->text);
    dh_finding_set(&out->key, from->key);
    out->first_seen = out->last_seen = (long long)from->time;
    out->runs = 1;
    if (p)
        fill_process(out, p);
    for (uint32_t i = 0; i < from->n_threads; i++)
        add_thread(&j, &from->threads[i]);
    drop_inherited_names(out);
    for (uint32_t i = 0; i < from->n_accesses; i++)
        add_access(&j, &from->access[i]);
    fill_variable(out);
    if (from->kind == DH_FINDING_VIEW || from->kind == DH_FINDING_ATOMICITY)
        fill_variables(&j);
    fill_variable_by_objects(out, from->kind == DH_FINDING_DEADLOCK);
    fill_object(&j);
    fill_variable_by_address(&j);
    fill_held(from, out);
    dh_finding_fingerprint(out);
}
