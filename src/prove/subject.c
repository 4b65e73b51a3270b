#include "prove/subject.h"

#include "base/alloc.h"
#include "base/str.h"
#include "host/file.h"
#include "image/container.h"
#include "prove/nowhere.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern char **environ;

#define NOWHERE "-"

static bool read_build(const char *file, struct dh_id *id, struct dh_err *err)
{
    struct dh_container c;
    if (!dh_container_open(&c, file, err))
        return false;
    *id = c.id;
    dh_container_release(&c);
    return true;
}

static bool add_library(struct dh_subject *s, const char *path, struct dh_err *err)
{
    uint32_t n = s->end_context.n_libraries;
    struct dh_engine_library *l = &s->end_context.libraries[n];
    struct dh_id id;
    struct stat file;
    if (n == DH_ENGINE_LIBRARIES || strlen(path) >= sizeof l->path)
        return true; /* the engine tells that it met one that it does not know */
    if (!read_build(path, &id, err))
        return false;
    if (stat(path, &file) != 0)
        return dh_err_errno(err, "cannot read %s", path);
    l->file = dh_file_identity_of(&file);
    l->first = dh_place_names_count(s->places);
    l->count = dh_place_names_add_library(s->places, path);
    strcpy(l->path, path);
    dh_id_text(&id, s->library_builds[n]);
    s->end_context.n_libraries = n + 1;
    return true;
}

bool dh_subject_open(struct dh_subject *s, const char *program, const char *variant, char *const *libraries,
                     char **argv, const char *input, struct dh_err *err)
{
    struct dh_id id;
    *s =
        (struct dh_subject){.resolver = dh_resolver_new(), .program = dh_strdup(program), .called = dh_strdup(argv[0])};
    char *file = dh_strdup(variant);
    s->start = (struct dh_subject_start){.variant = file, .argv = argv, .input = input};
    if (!read_build(variant, &id, err))
        return false;
    s->start.libraries = s->end_context.libraries = dh_xcalloc(DH_ENGINE_LIBRARIES, sizeof *s->end_context.libraries);
    memcpy(s->end_context.build, id.bytes, sizeof s->end_context.build);
    dh_id_text(&id, s->build);
    s->places = dh_place_names_new(dh_resolver_modules(s->resolver), variant);
    for (; libraries && *libraries; libraries++)
        if (!add_library(s, *libraries, err))
            return false;
    s->start.places = dh_place_names_count(s->places);
    if (!s->start.places)
        return dh_err_set(err, "%s has no sites: nothing in it was compiled by 'deadheat cc'", program);
    s->end_context.resolver = s->resolver;
    s->end_context.variant = file;
    s->end_context.program = s->program;
    s->start.n_libraries = s->end_context.n_libraries;
    return true;
}

void dh_subject_add_libraries(struct dh_subject *s, const struct dh_engine_library *met, uint32_t n)
{
    for (uint32_t i = s->end_context.n_libraries; i < n && i < DH_ENGINE_LIBRARIES; i++) {
        struct dh_engine_library *l = &s->end_context.libraries[i];
        *l = met[i];
        l->path[sizeof l->path - 1] = 0;
        dh_place_names_add_unnamed(s->places, l->path, l->first, l->count);
        s->end_context.n_libraries = i + 1;
    }
}

bool dh_subject_take_second_way(struct dh_subject *s, bool irrevocable, const char *text)
{
    if (!irrevocable || s->start.fresh)
        return false;
    s->start.fresh = true;
    s->irrevocable = dh_subject_explain_places(s, text);
    return true;
}

void dh_subject_learn_children(struct dh_subject *s, const struct dh_engine_control *r)
{
    if (!r->job.follow && !r->relatives[0].made_threads)
        dh_children_read(&s->children, r);
}

void dh_subject_release(struct dh_subject *s)
{
    free(s->end_context.libraries);
    dh_children_release(&s->children);
    dh_place_names_free(s->places);
    dh_resolver_free(s->resolver);
    free((char *)s->start.variant);
    free((char *)s->start.command);
    free(s->program);
    free(s->called);
    free(s->plan);
    free(s->child);
    free(s->irrevocable);
    *s = (struct dh_subject){0};
}

uint32_t dh_subject_access_size(void *subject, uint32_t place)
{
    struct dh_subject *s = subject;
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(s->places, place, &t);
    return site && !(site->flags & DH_SITE_SIZE_VARIES) ? site->size : 0;
}

/* " callers A B ..." are addresses of the executable, the runtime's own among them: the first one that is not. */
static char *explain_callers(struct dh_subject *s, const char *text, const char *list)
{
    struct dh_modules *modules = dh_resolver_modules(s->resolver);
    struct dh_known_module *m = dh_modules_get(modules, s->end_context.variant, s->end_context.build);
    struct dh_finding_stack stack = {0};
    char *end, *out = NULL;
    for (uint64_t address; !out && (address = strtoull(list, &end, 16)); list = end) {
        dh_known_frames(modules, m, address, &stack);
        for (size_t i = 0; !out && i < stack.frames.n; i++) {
            const struct dh_finding_frame *f = &stack.frames.at[i];
            if (f->function && f->file && f->line && !strstr(f->file, "src/runtime/"))
                out = dh_format("%.*s%s:%u in %s", (int)(strstr(text, "callers ") - text), text, f->file, f->line,
                                f->function);
        }
        dh_finding_stack_release(&stack);
        stack = (struct dh_finding_stack){0};
    }
    return out ? out : dh_format("%.*s", (int)(strstr(text, " at callers ") - text), text);
}

char *dh_subject_explain_places(struct dh_subject *s, const char *text)
{
    const char *callers = strstr(text, " at callers ");
    if (callers)
        return explain_callers(s, text, callers + strlen(" at callers "));
    const char *at = strstr(text, "place ");
    const struct dh_site_table *t;
    char *end;
    unsigned long place = at ? strtoul(at + 6, &end, 10) : 0;
    const struct dh_site *site = at && end != at + 6 ? dh_place_names_site(s->places, (uint32_t)place, &t) : NULL;
    if (!site || !site->line)
        return dh_strdup(text);
    if (strstr(text, "freed by thread ") && dh_is_nowhere((uint32_t)place, DH_STEP_FREE, site))
        return dh_format("%.*sin code that is not instrumented%s", (int)(at - text) - (int)strlen("at "), text, end);
    return dh_format("%.*s%s:%u in %s%s", (int)(at - text), text, dh_site_string(t, site->file), site->line,
                     dh_site_string(t, site->function), end);
}

/* ---- to a witness ---- */

static void add_inputs(struct dh_witness *w, const char *path)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    struct dh_witness_input i = {.hash = dh_strdup("00000000000000000000000000000000"), .path = dh_strdup(path)};
    if (dh_file_read(path, &b, &ignored)) {
        struct dh_id id = dh_content_hash(b.at, b.n);
        dh_id_text(&id, i.hash);
        dh_bytes_release(&b);
        dh_vec_push(&w->inputs, i);
    } else {
        free(i.hash);
        free(i.path);
    }
    dh_err_release(&ignored);
}

static void add_start(const struct dh_subject *s, struct dh_witness *w)
{
    struct dh_witness_build b = {.id = dh_strdup(s->build), .name = dh_strdup(dh_basename(s->program))};
    dh_vec_push(&w->builds, b);
    for (uint32_t i = 0; i < s->start.n_libraries; i++) {
        struct dh_witness_build l = {.id = dh_strdup(s->library_builds[i]),
                                     .name = dh_strdup(dh_basename(s->end_context.libraries[i].path))};
        dh_vec_push(&w->builds, l);
    }
    free(w->program);
    w->program = dh_strdup(s->called);
    w->follow = s->start.follow;
    free(w->child);
    w->child = dh_strdup(s->child ? s->child : "");
    for (char **a = s->start.argv + 1; *a; a++)
        dh_vec_push(&w->arguments, dh_strdup(*a));
    for (char **e = environ; *e; e++)
        if (dh_witness_may_set(*e))
            dh_vec_push(&w->environment, dh_strdup(*e));
    if (s->start.input) {
        free(w->input);
        w->input = dh_strdup(s->start.input);
        add_inputs(w, s->start.input);
    }
    for (char **a = s->start.argv + 1; *a; a++)
        if (dh_file_is_regular(*a))
            add_inputs(w, *a);
}

/* The begin and end of a thread have no place. */
static bool is_nowhere(uint8_t kind, uint32_t place)
{
    return (kind == DH_STEP_BEGIN || kind == DH_STEP_END) && !place;
}

static struct dh_witness_step step_of(struct dh_subject *s, uint32_t thread, uint32_t place, uint32_t occurrence,
                                      uint32_t alternative, uint8_t kind)
{
    struct dh_witness_step step = {
        .thread = thread, .occurrence = occurrence, .alternative = alternative, .kind = kind};
    step.place = dh_strdup(is_nowhere(kind, place) ? NOWHERE : dh_place_names_name(s->places, place));
    return step;
}

static uint32_t parties_of(const struct dh_engine_found *end)
{
    return end->n_parties < DH_ENGINE_PARTIES ? end->n_parties : DH_ENGINE_PARTIES;
}

static void add_adversary(struct dh_subject *s, const struct dh_adversary_setup *a, const struct dh_engine_found *end,
                          struct dh_witness *out)
{
    free(out->model);
    out->model = dh_strdup(a->model);
    for (uint32_t i = 0; a->model[0] && a->marks && i < s->start.places; i++)
        if (a->marks[i]) {
            struct dh_witness_mark m = {.marks = a->marks[i], .place = dh_strdup(dh_place_names_name(s->places, i))};
            dh_vec_push(&out->stale, m);
        }
    for (uint32_t i = 0; i < a->n_foreseen; i++) {
        struct dh_witness_foreseen f = {.thread = a->foreseen[i].thread,
                                        .occurrence = a->foreseen[i].occurrence,
                                        .value = a->foreseen[i].value,
                                        .place = dh_strdup(dh_place_names_name(s->places, a->foreseen[i].place))};
        dh_vec_push(&out->foreseen, f);
    }
    for (uint32_t i = 0; i < a->n_elements; i++)
        dh_vec_push(&out->elements, a->elements[i]);
    out->outcome = (struct dh_witness_outcome){end->outcome.status, end->outcome.output, end->outcome.errors};
    if (a->n_outcomes && a->outcomes[0].output == UINT64_MAX) /* output did not count */
        out->outcome.output = UINT64_MAX;
    if (a->n_outcomes && a->outcomes[0].errors == UINT64_MAX)
        out->outcome.errors = UINT64_MAX;
}

void dh_subject_make_witness(struct dh_subject *s, const struct dh_schedule *schedule,
                             const struct dh_engine_found *end, const char *finding, struct dh_witness *out)
{
    dh_witness_init(out);
    free(out->kind);
    out->kind = dh_strdup(dh_engine_end_names[end->kind < DH_ENGINE_ENDS ? end->kind : 0]);
    free(out->finding);
    out->finding = dh_strdup(finding);
    free(out->text);
    out->text = dh_format("%.*s", DH_ENGINE_TEXT, end->text);
    out->signal = end->signal;
    out->status = end->status;
    out->threads = end->threads;
    out->spurious = schedule->flags & DH_ENGINE_SPURIOUS;
    out->fresh = s->start.fresh;
    out->all_visible = schedule->flags & DH_ENGINE_ALL_VISIBLE;
    out->only_visible = schedule->flags & DH_ENGINE_ONLY_VISIBLE;
    out->watchdogs = schedule->flags & DH_ENGINE_WATCHDOGS;
    add_start(s, out);
    for (uint32_t i = 0; !out->all_visible && i < s->start.places; i++)
        if (schedule->visible[i])
            dh_vec_push(&out->visible, dh_strdup(dh_place_names_name(s->places, i)));
    for (uint32_t i = 0; i < s->start.places; i++)
        if (schedule->visible[i] & ~DH_ENGINE_VISIBLE) {
            struct dh_witness_mark m = {.marks = schedule->visible[i] & ~(unsigned)DH_ENGINE_VISIBLE,
                                        .place = dh_strdup(dh_place_names_name(s->places, i))};
            dh_vec_push(&out->marks, m);
        }
    add_adversary(s, &schedule->adversary, end, out);
    for (uint32_t i = 0; i < schedule->n; i++) {
        const struct dh_engine_decision *d = &schedule->decisions[i];
        if (i == 0 && dh_engine_is_undisturbed(d)) {
            out->undisturbed = (uint32_t)d->object;
            out->quantum = d->occurrence;
            continue;
        }
        dh_vec_push(&out->steps, step_of(s, d->thread, d->place, d->occurrence, d->alternative, d->kind));
    }
    for (uint32_t i = 0; i < parties_of(end); i++) {
        const struct dh_engine_party *p = &end->parties[i];
        dh_vec_push(&out->parties, step_of(s, p->thread, p->place, p->occurrence, 0, p->kind));
    }
}

/* ---- from a witness ---- */

static bool other_build(const char *name, const char *then, const char *now, struct dh_err *err)
{
    return dh_err_set(err, "the witness is of another build of %s: it was made with %.12s, this is %.12s; prove again",
                      name, then, now);
}

/* One of the same name, if there is none of this build. */
static const char *build_of_library(const struct dh_subject *s, const struct dh_witness_build *b)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < s->start.n_libraries; i++) {
        if (strcmp(s->library_builds[i], b->id) == 0)
            return s->library_builds[i];
        if (strcmp(dh_basename(s->end_context.libraries[i].path), b->name) == 0)
            found = s->library_builds[i];
    }
    return found;
}

static bool same_build(const struct dh_subject *s, const struct dh_witness *w, struct dh_err *err)
{
    if (!w->builds.n || strcmp(w->builds.at[0].id, s->build) != 0)
        return other_build(s->called, w->builds.n ? w->builds.at[0].id : "none", s->build, err);
    for (size_t i = 1; i < w->builds.n; i++) {
        const struct dh_witness_build *b = &w->builds.at[i];
        const char *now = build_of_library(s, b);
        if (!now)
            return dh_err_set(err, "the witness needs the library %s, which %s does not load", b->name, s->called);
        if (strcmp(now, b->id) != 0)
            return other_build(b->name, b->id, now, err);
    }
    return true;
}

static bool same_inputs(const struct dh_witness *w, struct dh_err *err)
{
    for (size_t i = 0; i < w->inputs.n; i++) {
        struct dh_bytes b;
        char now[33];
        if (!dh_file_read(w->inputs.at[i].path, &b, err))
            return dh_err_while(err, "looking for an input of the witness");
        struct dh_id id = dh_content_hash(b.at, b.n);
        dh_id_text(&id, now);
        dh_bytes_release(&b);
        if (strcmp(now, w->inputs.at[i].hash) != 0)
            return dh_err_set(err, "%s is not what it was when the witness was made", w->inputs.at[i].path);
    }
    return true;
}

/* In a healed program functions are inlined elsewhere, or not at all: any place of the site is taken. */
static bool find_copy(struct dh_subject *s, const char *name, uint32_t *place)
{
    enum { COPIES = 16 };
    const char *mark = strrchr(name, '@');
    bool found = false;
    for (int i = 0; mark && i < COPIES && !found; i++) {
        char *other =
            i ? dh_format("%.*s@%d", (int)(mark - name), name, i) : dh_format("%.*s", (int)(mark - name), name);
        found = dh_place_names_find(s->places, other, place);
        free(other);
    }
    return found;
}

static bool find_place(struct dh_subject *s, const char *name, uint32_t *place, struct dh_err *err)
{
    if (strcmp(name, NOWHERE) == 0) {
        *place = 0;
        return true;
    }
    return dh_place_names_find(s->places, name, place) || find_copy(s, name, place) ||
           dh_err_set(err, "the witness names %s, which this build does not have", name);
}

static bool resolve_marks(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                          struct dh_err *err)
{
    uint32_t place;
    for (size_t i = 0; i < w->marks.n; i++) {
        if (!find_place(s, w->marks.at[i].place, &place, err))
            return false;
        if (place < s->start.places)
            out->visible[place] |= (dh_engine_marks)w->marks.at[i].marks;
    }
    for (size_t i = 0; i < w->stale.n; i++) {
        if (!find_place(s, w->stale.at[i].place, &place, err))
            return false;
        if (place < s->start.places)
            out->stale[place] |= (uint8_t)w->stale.at[i].marks;
    }
    return true;
}

static bool resolve_foreseen(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                             struct dh_err *err)
{
    for (size_t i = 0; i < w->foreseen.n && i < DH_ENGINE_FORESEEN; i++) {
        const struct dh_witness_foreseen *from = &w->foreseen.at[i];
        struct dh_engine_foreseen *f = &out->foreseen[out->n_foreseen++];
        *f = (struct dh_engine_foreseen){.thread = from->thread, .occurrence = from->occurrence, .value = from->value};
        if (!find_place(s, from->place, &f->place, err))
            return false;
    }
    return true;
}

static bool resolve_visible(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                            struct dh_err *err)
{
    out->visible = dh_xcalloc(s->start.places + 1, sizeof *out->visible);
    out->stale = dh_xcalloc(s->start.places + 1, 1);
    for (size_t i = 0; i < w->visible.n; i++) {
        uint32_t place;
        if (!find_place(s, w->visible.at[i], &place, err))
            return false;
        if (place < s->start.places)
            out->visible[place] |= DH_ENGINE_VISIBLE;
    }
    strcpy(out->model, w->model);
    for (size_t i = 0; i < w->elements.n && i < DH_ENGINE_ELEMENTS; i++)
        out->elements[out->n_elements++] = w->elements.at[i];
    dh_racy_elements_resolve(out->elements, out->n_elements, s->start.variant);
    return resolve_marks(s, w, out, err) && resolve_foreseen(s, w, out, err);
}

static bool resolve_steps(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                          struct dh_err *err)
{
    if (w->undisturbed) {
        struct dh_engine_decision begin = {.occurrence = w->quantum, .object = w->undisturbed};
        dh_vec_push(&out->decisions, begin);
    }
    for (size_t i = 0; i < w->steps.n; i++) {
        const struct dh_witness_step *from = &w->steps.at[i];
        struct dh_engine_decision d = {.thread = from->thread,
                                       .occurrence = from->occurrence,
                                       .alternative = (uint16_t)from->alternative,
                                       .kind = from->kind};
        if (!find_place(s, from->place, &d.place, err))
            return false;
        dh_vec_push(&out->decisions, d);
    }
    return true;
}

static uint16_t kind_of(const char *name)
{
    uint16_t k = 0;
    while (k + 1 < DH_ENGINE_ENDS && strcmp(dh_engine_end_names[k], name) != 0)
        k++;
    return k;
}

static bool resolve_end(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                        struct dh_err *err)
{
    struct dh_engine_found *end = dh_xcalloc(1, sizeof *end);
    out->end = end;
    end->size = sizeof *end;
    end->kind = kind_of(w->kind);
    end->signal = w->signal;
    end->status = w->status;
    end->threads = w->threads;
    end->n_parties = (uint16_t)(w->parties.n < DH_ENGINE_PARTIES ? w->parties.n : DH_ENGINE_PARTIES);
    for (uint16_t i = 0; i < end->n_parties; i++) {
        const struct dh_witness_step *from = &w->parties.at[i];
        end->parties[i] =
            (struct dh_engine_party){.thread = from->thread, .occurrence = from->occurrence, .kind = from->kind};
        if (!find_place(s, from->place, &end->parties[i].place, err))
            return false;
    }
    strncpy(end->text, w->text, sizeof end->text - 1);
    end->outcome = (struct dh_engine_outcome){
        .status = w->outcome.status, .output = w->outcome.output, .errors = w->outcome.errors};
    return true;
}

bool dh_subject_resolve_witness(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                                struct dh_err *err)
{
    s->start.fresh = w->fresh;
    *out = (struct dh_resolved_witness){
        .flags = (w->spurious ? DH_ENGINE_SPURIOUS : 0u) | (w->all_visible ? DH_ENGINE_ALL_VISIBLE : 0u) |
                 (w->only_visible ? DH_ENGINE_ONLY_VISIBLE : 0u) | (w->watchdogs ? DH_ENGINE_WATCHDOGS : 0u)};
    return same_build(s, w, err) && same_inputs(w, err) && resolve_visible(s, w, out, err) &&
           resolve_steps(s, w, out, err) && resolve_end(s, w, out, err);
}

void dh_resolved_witness_release(struct dh_resolved_witness *p)
{
    dh_vec_release(&p->decisions);
    free(p->visible);
    free(p->values);
    free(p->stale);
    free(p->end);
    *p = (struct dh_resolved_witness){0};
}

struct dh_schedule dh_resolved_witness_schedule(const struct dh_resolved_witness *p)
{
    struct dh_schedule s = {.decisions = p->decisions.at,
                            .n = (uint32_t)p->decisions.n,
                            .visible = p->visible,
                            .flags = p->flags,
                            .values = p->values,
                            .adversary = {.marks = p->stale,
                                          .foreseen = p->foreseen,
                                          .n_foreseen = p->n_foreseen,
                                          .elements = p->elements,
                                          .n_elements = p->n_elements}};
    memcpy(s.adversary.model, p->model, sizeof s.adversary.model);
    s.adversary.judges = p->end && p->end->kind == DH_ENGINE_WRONG;
    return s;
}
