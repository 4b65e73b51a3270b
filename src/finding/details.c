#include "finding/details.h"

#include "finding/json_text.h"

/* The plain fields of each record, under the names that they have in C; what is a list or a stack has code below. */
enum type { TEXT, NUMBER, WIDE, PLACE, FLAG, KIND, LEVEL };

struct field {
    const char *key;
    enum type type;
    size_t offset;
};

#define FIELD(record, type, name) {#name, type, offsetof(struct record, name)}
static const struct field finding_fields[] = {
    FIELD(dh_finding, KIND, kind),
    FIELD(dh_finding, TEXT, detector),
    FIELD(dh_finding, LEVEL, level),
    FIELD(dh_finding, TEXT, variable),
    FIELD(dh_finding, TEXT, type),
    FIELD(dh_finding, TEXT, object),
    FIELD(dh_finding, WIDE, offset),
    FIELD(dh_finding, WIDE, extent),
    FIELD(dh_finding, TEXT, held),
    FIELD(dh_finding, TEXT, text),
    FIELD(dh_finding, TEXT, key),
    FIELD(dh_finding, TEXT, program),
    FIELD(dh_finding, NUMBER, pid),
    FIELD(dh_finding, NUMBER, object_thread),
    {0},
};
static const struct field frame_fields[] = {
    FIELD(dh_finding_frame, TEXT, function),
    FIELD(dh_finding_frame, TEXT, file),
    FIELD(dh_finding_frame, NUMBER, line),
    FIELD(dh_finding_frame, NUMBER, column),
    FIELD(dh_finding_frame, TEXT, module),
    FIELD(dh_finding_frame, WIDE, offset),
    {0},
};
static const struct field stack_fields[] = {
    FIELD(dh_finding_stack, NUMBER, n_cut),
    FIELD(dh_finding_stack, PLACE, cut),
    {0},
};
static const struct field lock_fields[] = {
    FIELD(dh_finding_lock, TEXT, name),
    FIELD(dh_finding_lock, FLAG, shared),
    {0},
};
static const struct field access_fields[] = {
    FIELD(dh_finding_access, TEXT, op),       FIELD(dh_finding_access, TEXT, site),
    FIELD(dh_finding_access, TEXT, variable), FIELD(dh_finding_access, TEXT, type),
    FIELD(dh_finding_access, TEXT, expr),     FIELD(dh_finding_access, TEXT, callee),
    FIELD(dh_finding_access, TEXT, value),    FIELD(dh_finding_access, NUMBER, size),
    FIELD(dh_finding_access, NUMBER, thread), FIELD(dh_finding_access, FLAG, forgotten),
    FIELD(dh_finding_access, FLAG, wrote),    FIELD(dh_finding_access, TEXT, object),
    FIELD(dh_finding_access, TEXT, note),     {0},
};
static const struct field thread_fields[] = {
    FIELD(dh_finding_thread, NUMBER, index),
    FIELD(dh_finding_thread, NUMBER, parent),
    FIELD(dh_finding_thread, TEXT, name),
    FIELD(dh_finding_thread, TEXT, state),
    {0},
};

/* ---- writing ---- */

static json_t *field_json(enum type type, const void *at)
{
    if (type == TEXT)
        return dh_json_text(*(char *const *)at);
    if (type == FLAG)
        return json_boolean(*(const bool *)at);
    if (type == KIND)
        return dh_json_text(dh_finding_kind_name(*(const enum dh_finding_kind *)at));
    if (type == LEVEL)
        return dh_json_text(dh_finding_level_name(*(const enum dh_finding_level *)at));
    return json_integer(type == NUMBER  ? (long long)*(const uint32_t *)at
                        : type == PLACE ? (long long)*(const size_t *)at
                                        : (long long)*(const uint64_t *)at);
}

static json_t *record_json(const void *record, const struct field *fields)
{
    json_t *o = json_object();
    for (; fields->key; fields++) {
        const void *at = (const char *)record + fields->offset;
        if (fields->type != TEXT || **(char *const *)at)
            json_object_set_new(o, fields->key, field_json(fields->type, at));
    }
    return o;
}

static json_t *stack_json(const struct dh_finding_stack *s)
{
    json_t *frames = json_array(), *o = record_json(s, stack_fields);
    for (size_t i = 0; i < s->frames.n; i++)
        json_array_append_new(frames, record_json(&s->frames.at[i], frame_fields));
    json_object_set_new(o, "frames", frames);
    return o;
}

static json_t *access_json(const struct dh_finding_access *a)
{
    json_t *o = record_json(a, access_fields), *locks = json_array();
    for (size_t i = 0; i < a->locks.n; i++) {
        json_t *lock = record_json(&a->locks.at[i], lock_fields);
        json_object_set_new(lock, "taken", stack_json(&a->locks.at[i].taken));
        json_array_append_new(locks, lock);
    }
    json_object_set_new(o, "stack", stack_json(&a->stack));
    json_object_set_new(o, "locks", locks);
    return o;
}

static json_t *thread_json(const struct dh_finding_thread *t)
{
    json_t *o = record_json(t, thread_fields);
    json_object_set_new(o, "created", stack_json(&t->created));
    return o;
}

char *dh_details_write(const struct dh_finding *f)
{
    json_t *o = record_json(f, finding_fields), *accesses = json_array(), *threads = json_array();
    for (size_t i = 0; i < f->accesses.n; i++)
        json_array_append_new(accesses, access_json(&f->accesses.at[i]));
    for (size_t i = 0; i < f->threads.n; i++)
        json_array_append_new(threads, thread_json(&f->threads.at[i]));
    json_object_set_new(o, "allocated", stack_json(&f->allocated));
    json_object_set_new(o, "accesses", accesses);
    json_object_set_new(o, "threads", threads);
    return dh_json_take(o);
}

/* ---- reading: whatever is missing or of another type reads as nothing ---- */

static const char *text_or_nothing(const json_t *from)
{
    const char *text = json_string_value(from);
    return text ? text : "";
}

static void read_field(enum type type, const json_t *from, void *at)
{
    if (type == TEXT) {
        free(*(char **)at);
        *(char **)at = dh_strdup(text_or_nothing(from));
    } else if (type == KIND)
        *(enum dh_finding_kind *)at = dh_finding_kind_parse(text_or_nothing(from));
    else if (type == LEVEL)
        *(enum dh_finding_level *)at = dh_finding_level_parse(text_or_nothing(from));
    else if (type == FLAG)
        *(bool *)at = json_is_true(from);
    else if (type == NUMBER)
        *(uint32_t *)at = (uint32_t)json_integer_value(from);
    else if (type == PLACE)
        *(size_t *)at = (size_t)json_integer_value(from);
    else
        *(uint64_t *)at = (uint64_t)json_integer_value(from);
}

static void read_record(const json_t *o, const struct field *fields, void *record)
{
    for (; fields->key; fields++)
        read_field(fields->type, json_object_get(o, fields->key), (char *)record + fields->offset);
}

static void read_stack(const json_t *o, struct dh_finding_stack *s)
{
    size_t i;
    json_t *one;
    read_record(o, stack_fields, s);
    json_array_foreach(json_object_get(o, "frames"), i, one)
    {
        struct dh_finding_frame f = {0};
        read_record(one, frame_fields, &f);
        dh_vec_push(&s->frames, f);
    }
}

static void read_access(const json_t *o, struct dh_finding *out)
{
    struct dh_finding_access a = {0};
    size_t i;
    json_t *one;
    read_record(o, access_fields, &a);
    read_stack(json_object_get(o, "stack"), &a.stack);
    json_array_foreach(json_object_get(o, "locks"), i, one)
    {
        struct dh_finding_lock l = {0};
        read_record(one, lock_fields, &l);
        read_stack(json_object_get(one, "taken"), &l.taken);
        dh_vec_push(&a.locks, l);
    }
    dh_vec_push(&out->accesses, a);
}

static void read_thread(const json_t *o, struct dh_finding *out)
{
    struct dh_finding_thread t = {0};
    read_record(o, thread_fields, &t);
    read_stack(json_object_get(o, "created"), &t.created);
    dh_vec_push(&out->threads, t);
}

bool dh_details_read(const char *text, struct dh_finding *out)
{
    dh_finding_init(out);
    json_t *o = json_loads(text, 0, NULL), *one;
    bool ok = json_is_object(o);
    size_t i;
    read_record(o, finding_fields, out);
    read_stack(json_object_get(o, "allocated"), &out->allocated);
    json_array_foreach(json_object_get(o, "accesses"), i, one) read_access(one, out);
    json_array_foreach(json_object_get(o, "threads"), i, one) read_thread(one, out);
    json_decref(o);
    return ok;
}

struct dh_finding *dh_finding_copy(const struct dh_finding *f)
{
    struct dh_finding *copy = calloc(1, sizeof *copy);
    char *details = dh_details_write(f);
    if (!copy)
        abort();
    dh_details_read(details, copy);
    free(details);
    char **to[] = {&copy->id, &copy->detector, &copy->build};
    char *const from[] = {f->id, f->detector, f->build};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        dh_finding_set(to[i], from[i]);
    dh_finding_set(&copy->classification, f->classification);
    copy->verdict = f->verdict;
    copy->healing = f->healing;
    copy->first_seen = f->first_seen;
    copy->last_seen = f->last_seen;
    return copy;
}
