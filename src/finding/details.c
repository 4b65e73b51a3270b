#include "finding/details.h"

#include "finding/json_text.h"

static void put_text(json_t *o, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(o, key, dh_json_text(text));
}

static void put_number(json_t *o, const char *key, long long n)
{
    json_object_set_new(o, key, json_integer(n));
}

static json_t *stack_json(const struct dh_finding_stack *s)
{
    json_t *frames = json_array(), *o = json_object();
    for (size_t i = 0; i < s->frames.n; i++) {
        const struct dh_finding_frame *f = &s->frames.at[i];
        json_t *one = json_object();
        put_text(one, "function", f->function);
        put_text(one, "file", f->file);
        put_number(one, "line", f->line);
        put_number(one, "column", f->column);
        put_text(one, "module", f->module);
        put_number(one, "offset", (long long)f->offset);
        json_array_append_new(frames, one);
    }
    json_object_set_new(o, "frames", frames);
    put_number(o, "n_cut", s->n_cut);
    put_number(o, "cut", (long long)s->cut);
    return o;
}

static json_t *locks_json(const struct dh_finding_access *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->locks.n; i++) {
        json_t *o = json_object();
        put_text(o, "name", a->locks.at[i].name);
        json_object_set_new(o, "shared", json_boolean(a->locks.at[i].shared));
        json_object_set_new(o, "taken", stack_json(&a->locks.at[i].taken));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *access_json(const struct dh_finding_access *a)
{
    json_t *o = json_object();
    put_text(o, "op", a->op);
    put_text(o, "site", a->site);
    put_text(o, "variable", a->variable);
    put_text(o, "type", a->type);
    put_text(o, "expr", a->expr);
    put_text(o, "callee", a->callee);
    put_text(o, "value", a->value);
    put_number(o, "size", a->size);
    put_number(o, "thread", a->thread);
    json_object_set_new(o, "forgotten", json_boolean(a->forgotten));
    json_object_set_new(o, "wrote", json_boolean(a->wrote));
    json_object_set_new(o, "stack", stack_json(&a->stack));
    json_object_set_new(o, "locks", locks_json(a));
    return o;
}

static json_t *thread_json(const struct dh_finding_thread *t)
{
    json_t *o = json_object();
    put_number(o, "index", t->index);
    put_number(o, "parent", t->parent);
    put_text(o, "name", t->name);
    put_text(o, "state", t->state);
    json_object_set_new(o, "created", stack_json(&t->created));
    return o;
}

/* The plain texts of a finding that are not columns of the store. */
struct field {
    const char *key;
    size_t offset;
};
#define FIELD(name) {#name, offsetof(struct dh_finding, name)}
static const struct field fields[] = {FIELD(kind),   FIELD(detector), FIELD(variable), FIELD(type),
                                      FIELD(object), FIELD(held),     FIELD(text),     FIELD(program)};
#define FIELDS (sizeof fields / sizeof *fields)

char *dh_details_write(const struct dh_finding *f)
{
    json_t *o = json_object(), *accesses = json_array(), *threads = json_array();
    for (size_t i = 0; i < FIELDS; i++)
        put_text(o, fields[i].key, *(char *const *)((const char *)f + fields[i].offset));
    put_number(o, "pid", f->pid);
    put_number(o, "object_thread", f->object_thread);
    json_object_set_new(o, "allocated", stack_json(&f->allocated));
    for (size_t i = 0; i < f->accesses.n; i++)
        json_array_append_new(accesses, access_json(&f->accesses.at[i]));
    for (size_t i = 0; i < f->threads.n; i++)
        json_array_append_new(threads, thread_json(&f->threads.at[i]));
    json_object_set_new(o, "accesses", accesses);
    json_object_set_new(o, "threads", threads);
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    if (!text)
        abort();
    return text;
}

/* ---- reading: whatever is missing or of another type reads as nothing ---- */

static char *get_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return dh_strdup(text ? text : "");
}

static uint32_t get_number(const json_t *o, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(o, key));
}

static void read_stack(const json_t *o, struct dh_finding_stack *s)
{
    size_t i;
    json_t *one;
    s->n_cut = get_number(o, "n_cut");
    s->cut = get_number(o, "cut");
    json_array_foreach(json_object_get(o, "frames"), i, one)
    {
        struct dh_finding_frame f = {
            .function = get_text(one, "function"),
            .file = get_text(one, "file"),
            .line = get_number(one, "line"),
            .column = get_number(one, "column"),
            .module = get_text(one, "module"),
            .offset = (uint64_t)json_integer_value(json_object_get(one, "offset")),
        };
        dh_vec_push(&s->frames, f);
    }
}

static void read_access(const json_t *o, struct dh_finding *out)
{
    struct dh_finding_access a = {
        .op = get_text(o, "op"),
        .site = get_text(o, "site"),
        .variable = get_text(o, "variable"),
        .type = get_text(o, "type"),
        .expr = get_text(o, "expr"),
        .callee = get_text(o, "callee"),
        .value = get_text(o, "value"),
        .size = get_number(o, "size"),
        .thread = get_number(o, "thread"),
        .forgotten = json_is_true(json_object_get(o, "forgotten")),
        .wrote = json_is_true(json_object_get(o, "wrote")),
    };
    size_t i;
    json_t *one;
    read_stack(json_object_get(o, "stack"), &a.stack);
    json_array_foreach(json_object_get(o, "locks"), i, one)
    {
        struct dh_finding_lock l = {.name = get_text(one, "name"),
                                    .shared = json_is_true(json_object_get(one, "shared"))};
        read_stack(json_object_get(one, "taken"), &l.taken);
        dh_vec_push(&a.locks, l);
    }
    dh_vec_push(&out->accesses, a);
}

static void read_thread(const json_t *o, struct dh_finding *out)
{
    struct dh_finding_thread t = {
        .index = get_number(o, "index"),
        .parent = get_number(o, "parent"),
        .name = get_text(o, "name"),
        .state = get_text(o, "state"),
    };
    read_stack(json_object_get(o, "created"), &t.created);
    dh_vec_push(&out->threads, t);
}

bool dh_details_read(const char *text, struct dh_finding *out)
{
    dh_finding_init(out);
    json_t *o = json_loads(text, 0, NULL), *one;
    bool ok = json_is_object(o);
    size_t i;
    for (i = 0; i < FIELDS; i++) {
        char **field = (char **)((char *)out + fields[i].offset);
        free(*field);
        *field = get_text(o, fields[i].key);
    }
    out->pid = get_number(o, "pid");
    out->object_thread = get_number(o, "object_thread");
    read_stack(json_object_get(o, "allocated"), &out->allocated);
    json_array_foreach(json_object_get(o, "accesses"), i, one) read_access(one, out);
    json_array_foreach(json_object_get(o, "threads"), i, one) read_thread(one, out);
    json_decref(o);
    return ok;
}
