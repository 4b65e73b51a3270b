#include "report/json.h"

#include "finding/json_text.h"
#include "report/formats.h"

#include <time.h>

static void put(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, dh_json_text(text));
}

static void put_place(json_t *o, const struct dh_finding_frame *f)
{
    put(o, "file", f ? f->file : "");
    json_object_set_new(o, "line", json_integer(f ? f->line : 0));
    json_object_set_new(o, "column", json_integer(f ? f->column : 0));
}

static json_t *stack_json(const struct dh_finding_stack *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->frames.n; i++) {
        json_t *o = json_object();
        put(o, "function", s->frames.at[i].function);
        put_place(o, &s->frames.at[i]);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *locks_json(const struct dh_finding_access *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->locks.n; i++)
        json_array_append_new(list, dh_json_text(a->locks.at[i].name));
    return list;
}

/* The same with all that is known of them. */
static json_t *held_json(const struct dh_finding_access *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->locks.n; i++) {
        json_t *o = json_object();
        put(o, "lock", a->locks.at[i].name);
        json_object_set_new(o, "shared", json_boolean(a->locks.at[i].shared));
        json_object_set_new(o, "taken", stack_json(&a->locks.at[i].taken));
        json_array_append_new(list, o);
    }
    return list;
}

static void put_thread(json_t *o, const char *key, const struct dh_finding *f, uint32_t index)
{
    const struct dh_finding_thread *t = dh_finding_thread(f, index);
    char *text = index == DH_NO_THREAD ? dh_strdup("")
                 : index == 0          ? dh_strdup("main")
                 : t && t->name[0]     ? dh_format("T%u %s", index, t->name)
                                       : dh_format("T%u", index);
    put(o, key, text);
    free(text);
}

static json_t *access_json(const struct dh_finding *f, const struct dh_finding_access *a)
{
    const struct dh_finding_frame *top = a->stack.frames.n ? &a->stack.frames.at[0] : NULL;
    json_t *o = json_object();
    put(o, "op", a->op);
    json_object_set_new(o, "size", json_integer(a->size));
    put_place(o, top);
    put(o, "function", top ? top->function : "");
    put_thread(o, "thread", f, a->thread);
    json_object_set_new(o, "locks", locks_json(a));
    json_object_set_new(o, "stack", stack_json(&a->stack));
    const char *const texts[][2] = {{"site", a->site},   {"variable", a->variable}, {"type", a->type},
                                    {"value", a->value}, {"callee", a->callee},     {"object", a->object},
                                    {"note", a->note}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put(o, texts[i][0], texts[i][1]);
    json_object_set_new(o, "holding", held_json(a));
    return o;
}

static json_t *threads_json(const struct dh_finding *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->threads.n; i++) {
        const struct dh_finding_thread *t = &f->threads.at[i];
        json_t *o = json_object();
        put_thread(o, "thread", f, t->index);
        put(o, "state", t->state);
        put_thread(o, "creator", f, t->parent);
        json_object_set_new(o, "created", stack_json(&t->created));
        json_array_append_new(list, o);
    }
    return list;
}

static void put_time(json_t *o, const char *key, long long seconds)
{
    char text[32] = "";
    time_t at = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&at, &parts))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    put(o, key, text);
}

void dh_report_json(struct dh_str *out, const struct dh_finding *f)
{
    json_t *o = json_object(), *accesses = json_array();
    const char *const texts[][2] = {{"id", f->id},
                                    {"kind", dh_finding_kind_name(f->kind)},
                                    {"detector", f->detector},
                                    {"level", dh_finding_level_name(f->level)},
                                    {"verdict", dh_finding_verdict_name(f->verdict)},
                                    {"healing", dh_finding_healing_name(f->healing)},
                                    {"variable", f->variable},
                                    {"object", f->object}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put(o, texts[i][0], texts[i][1]);
    json_object_set_new(o, "witness", f->witness[0] ? dh_json_text(f->witness) : json_null());
    for (size_t i = 0; i < f->accesses.n; i++)
        json_array_append_new(accesses, access_json(f, &f->accesses.at[i]));
    json_object_set_new(o, "accesses", accesses);
    json_object_set_new(o, "runs", json_integer(f->runs));
    put_time(o, "first_seen", f->first_seen);
    put_time(o, "last_seen", f->last_seen);
    const char *const more[][2] = {
        {"type", f->type}, {"text", f->text}, {"held", f->held}, {"program", f->program}, {"build", f->build}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        put(o, more[i][0], more[i][1]);
    json_t *classification = f->classification[0] ? json_loads(f->classification, 0, NULL) : NULL;
    json_object_set_new(o, "classification", classification ? classification : json_null());
    json_t *healed = f->healed[0] ? json_loads(f->healed, 0, NULL) : NULL;
    json_object_set_new(o, "healed", healed ? healed : json_null());
    json_object_set_new(o, "allocated", stack_json(&f->allocated));
    json_object_set_new(o, "threads", threads_json(f));
    char *text = dh_json_take(o);
    dh_str_add(out, text);
    free(text);
}

/* ---- the format ---- */

static void begin_document(struct dh_str *out)
{
    dh_str_add(out, "{\"version\":1,\"findings\":[");
}

static void add_element(struct dh_str *out, size_t index, const struct dh_finding *f)
{
    dh_str_add(out, index ? ",\n" : "\n");
    dh_report_json(out, f);
}

static void end_document(struct dh_str *out)
{
    dh_str_add(out, "\n]}\n");
}

static void add_member(struct dh_str *out, const char *name, const char *json)
{
    while (out->n && out->at[out->n - 1] != '}')
        out->n--;
    out->at[--out->n] = 0;
    dh_str_addf(out, ",\"%s\":%s}\n", name, json);
}

const struct dh_report_format dh_report_format_json = {
    .name = "json", .begin = begin_document, .finding = add_element, .end = end_document, .member = add_member};
