#include "report/text.h"

#include "event/finding_log.h"
#include "report/formats.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULE "==================\n"

/* Wording by kind of finding, besides its title (event/finding_kind.def). */
struct words {
    const char *of;    /* between title and variable */
    bool in_order;     /* the accesses came one after the other, the last first: "previous" */
    bool of_variables; /* they are of several variables, so that each says which */
};

static const struct words words[DH_FINDING_KIND_COUNT] = {
    [DH_FINDING_RACE] = {"on", .in_order = true},
    [DH_FINDING_USE_AFTER_FREE] = {"of", .in_order = true},
    [DH_FINDING_LOCK_MISUSE] = {"", .in_order = true},
    [DH_FINDING_ANNOTATION] = {"on", .in_order = true},
    [DH_FINDING_VIEW] = {"on", .of_variables = true},
    [DH_FINDING_ATOMICITY] = {"on", .of_variables = true},
    [DH_FINDING_DEADLOCK] = {.of = "on"},
    [DH_FINDING_CRITICAL_WAIT] = {.of = "for"},
    [DH_FINDING_INDEFINITE_WAIT] = {.of = "for"},
    [DH_FINDING_LOST_WAKEUP] = {.of = "of"},
    [DH_FINDING_ASSERTION] = {.of = "on"},
    [DH_FINDING_CRASH] = {.of = "on"},
};

static const struct words *words_of(const struct dh_finding *f)
{
    static const struct words unknown = {.of = "on"};
    return f->kind < DH_FINDING_KIND_COUNT ? &words[f->kind] : &unknown;
}

static bool is_suspected(const struct dh_finding *f)
{
    return f->level == DH_LEVEL_SUSPECTED;
}

/* The stack of a thread that ended was not freed: there is one access only. */
static bool is_after_end(const struct dh_finding *f)
{
    return f->kind == DH_FINDING_USE_AFTER_FREE && f->accesses.n == 1;
}

static void add_kind(struct dh_str *out, const struct dh_finding *f)
{
    dh_str_addf(out, "%s%s", is_suspected(f) ? "possible " : "",
                is_after_end(f) ? "use after end of thread" : dh_finding_kind_title(f->kind));
}

const char *dh_text_path(const char *path)
{
    static char *here;
    if (path[0] != '/' || (!here && !(here = getcwd(NULL, 0))))
        return path;
    const char *rest = dh_starts_with(path, here) ? path + strlen(here) : "";
    return rest[0] == '/' ? rest + 1 : path;
}

static void add_source(struct dh_str *out, const struct dh_finding_frame *f)
{
    dh_str_add(out, dh_text_path(f->file));
    if (f->line)
        dh_str_addf(out, ":%u", f->line);
    if (f->line && f->column)
        dh_str_addf(out, ":%u", f->column);
}

static void add_frame(struct dh_str *out, unsigned number, const struct dh_finding_frame *f)
{
    dh_str_addf(out, "    #%u ", number);
    if (f->function[0])
        dh_str_addf(out, "%s ", f->function);
    if (f->file[0])
        add_source(out, f);
    else if (f->module[0])
        dh_str_addf(out, "(%s+0x%llx)", f->module, (unsigned long long)f->offset);
    else if (!f->function[0])
        dh_str_addf(out, "(0x%llx)", (unsigned long long)f->offset);
    dh_str_add(out, "\n");
}

static bool same_place(const struct dh_finding_frame *a, const struct dh_finding_frame *b)
{
    return a->line == b->line && a->column == b->column && a->offset == b->offset &&
           strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 && strcmp(a->module, b->module) == 0;
}

/* Number of equal frames from `i` on, up to the cut. */
static size_t repeats(const struct dh_finding_stack *s, size_t i)
{
    size_t n = 1;
    while (i + n < s->frames.n && !(s->n_cut && i + n == s->cut) && same_place(&s->frames.at[i], &s->frames.at[i + n]))
        n++;
    return n;
}

/* Frames keep their numbers; of a recursion only the first and the last are printed. */
static void add_stack(struct dh_str *out, const struct dh_finding_stack *s)
{
    unsigned number = 0;
    for (size_t i = 0; i < s->frames.n;) {
        size_t n = repeats(s, i);
        if (s->n_cut && i == s->cut) {
            dh_str_addf(out, "    ... %u more\n", s->n_cut);
            number += s->n_cut;
        }
        for (size_t k = 0; k < n; k++)
            if (n < 4 || k == 0 || k == n - 1)
                add_frame(out, number + (unsigned)k, &s->frames.at[i]);
            else if (k == 1)
                dh_str_addf(out, "    ... %zu times the same\n", n - 2);
        number += (unsigned)n;
        i += n;
    }
}

/* In static findings number 0 may be any thread entry. */
static void add_thread_name(struct dh_str *out, const struct dh_finding *f, uint32_t index)
{
    const struct dh_finding_thread *t = dh_finding_thread(f, index);
    if (index == DH_NO_THREAD)
        dh_str_add(out, "an unknown thread");
    else if (index == 0 && (f->pid || !t || strcmp(t->name, "main") == 0 || !t->name[0]))
        dh_str_add(out, "main thread");
    else if (t && t->name[0])
        dh_str_addf(out, "thread T%u '%s'", index, t->name);
    else
        dh_str_addf(out, "thread T%u", index);
}

/* The innermost frame in a file of the user's, not in a library's header. */
static const struct dh_finding_frame *named_frame(const struct dh_finding_stack *s)
{
    const struct dh_finding_frame *any = NULL;
    for (size_t i = 0; i < s->frames.n; i++) {
        const struct dh_finding_frame *f = &s->frames.at[i];
        if (f->file[0] && !dh_finding_is_foreign(f))
            return f;
        any = f->file[0] && !any ? f : any;
    }
    return any ? any : s->frames.n ? &s->frames.at[0] : NULL;
}

static void add_place(struct dh_str *out, const struct dh_finding_stack *s)
{
    const struct dh_finding_frame *f = named_frame(s);
    if (!f) {
        dh_str_add(out, "?");
        return;
    }
    if (!f->file[0] && !f->offset && f->function[0]) { /* known by name alone */
        dh_str_add(out, f->function);
        return;
    }
    if (f->file[0])
        add_source(out, f);
    else
        dh_str_addf(out, "%s+0x%llx", f->module[0] ? f->module : "?", (unsigned long long)f->offset);
    if (f->function[0])
        dh_str_addf(out, " in %s", f->function);
}

void dh_text_place(struct dh_str *out, const struct dh_finding_access *a)
{
    add_place(out, &a->stack);
}

static void add_locks(struct dh_str *out, const struct dh_finding_access *a)
{
    for (size_t i = 0; i < a->locks.n; i++) {
        const struct dh_finding_lock *l = &a->locks.at[i];
        dh_str_addf(out, "    holding %s%s", l->name, l->shared ? " for reading" : "");
        if (l->taken.frames.n) {
            dh_str_add(out, ", taken at ");
            add_place(out, &l->taken);
        }
        dh_str_add(out, "\n");
    }
}

/* Capitalised, because it begins a sentence. */
static void add_op(struct dh_str *out, const char *before, const char *op)
{
    size_t at = out->n;
    dh_str_addf(out, "%s%s%s", before, before[0] ? " " : "", op);
    out->at[at] = (char)toupper((unsigned char)out->at[at]);
}

/* "Thread T1 'saver' takes lock_b" */
static void add_operation(struct dh_str *out, const struct dh_finding *f, const struct dh_finding_access *a,
                          uint32_t role)
{
    size_t at = out->n + 2;
    dh_str_add(out, "  ");
    add_thread_name(out, f, a->thread);
    out->at[at] = (char)toupper((unsigned char)out->at[at]);
    const struct dh_log_role_words *w = dh_log_role_words(role);
    bool sorted = dh_starts_with(a->object, w->object); /* "lock at 0x1000", "thread T1" */
    dh_str_addf(out, " %s%s%s%s%s:\n", w->does, sorted ? "" : " ", sorted ? "" : w->object, a->object[0] ? " " : "",
                a->object);
}

/* Suspected accesses have no order. */
static const char *order_word(const struct dh_finding *f, size_t i)
{
    bool in_order = words_of(f)->in_order;
    return !i || !in_order ? "" : is_suspected(f) ? "other" : "previous";
}

static void add_headline(struct dh_str *out, const struct dh_finding *f, size_t i)
{
    const struct dh_finding_access *a = &f->accesses.at[i];
    const struct words *w = words_of(f);
    uint32_t role = dh_log_role_of_op(a->op);
    if (role && (a->object[0] || !dh_log_role_words(role)->object[0])) {
        add_operation(out, f, a, role);
        return;
    }
    dh_str_add(out, "  ");
    if (strcmp(a->op, "free") == 0 && i > 0 && f->kind == DH_FINDING_USE_AFTER_FREE)
        dh_str_add(out, "Freed");
    else {
        add_op(out, order_word(f, i), a->op);
        if (w->of_variables && a->variable[0])
            dh_str_addf(out, " of %s", a->variable);
        if (a->size)
            dh_str_addf(out, w->of_variables && a->variable[0] ? " (%u bytes)" : " of size %u", a->size);
    }
    dh_str_add(out, " by ");
    add_thread_name(out, f, a->thread);
    if (a->callee[0])
        dh_str_addf(out, ", in %s", a->callee);
    dh_str_add(out, ":\n");
}

/* The old value belongs to the access that found it. */
static void add_values(struct dh_str *out, const struct dh_finding *f, size_t i)
{
    const struct dh_finding_access *a = &f->accesses.at[i];
    const char *held = i == 0 ? f->held : "";
    if (a->value[0] && held[0])
        dh_str_addf(out, "    writes %s where %s was\n", a->value, held);
    else if (a->value[0])
        dh_str_addf(out, "    wrote %s\n", a->value);
    else if (held[0])
        dh_str_addf(out, "    %s %s\n", a->wrote ? "writes where this was:" : "finds", held);
}

static void add_access(struct dh_str *out, const struct dh_finding *f, size_t i)
{
    const struct dh_finding_access *a = &f->accesses.at[i];
    add_headline(out, f, i);
    if (a->forgotten)
        dh_str_add(out, "    [too long ago: where it happened is not known any more]\n");
    else
        add_stack(out, &a->stack);
    if (a->note[0])
        dh_str_addf(out, "    %s\n", a->note);
    add_values(out, f, i);
    add_locks(out, a);
    /* Suspected because no lock is common. */
    if (is_suspected(f) && f->kind == DH_FINDING_RACE && !a->locks.n && !a->forgotten)
        dh_str_add(out, "    holding no lock\n");
    dh_str_add(out, "\n");
}

static void add_object(struct dh_str *out, const struct dh_finding *f)
{
    /* A deadlock has several locks; the location of one is no help. */
    if (!f->object[0] || f->kind == DH_FINDING_DEADLOCK)
        return;
    dh_str_addf(out, "  Location is %s", f->object);
    if (f->allocated.frames.n) {
        dh_str_add(out, ", allocated ");
        if (f->object_thread == DH_NO_THREAD)
            dh_str_add(out, "at");
        else {
            dh_str_add(out, "by ");
            add_thread_name(out, f, f->object_thread);
        }
        dh_str_add(out, ":\n");
        add_stack(out, &f->allocated);
    } else
        dh_str_add(out, "\n");
    dh_str_add(out, "\n");
}

static void add_thread(struct dh_str *out, const struct dh_finding *f, const struct dh_finding_thread *t)
{
    if (t->index == 0)
        return;
    dh_str_add(out, "  T");
    size_t at = out->n - 1;
    out->n = at;
    add_thread_name(out, f, t->index);
    out->at[at] = 'T';
    dh_str_addf(out, " (%s)", t->state);
    if (t->parent == DH_NO_THREAD)
        dh_str_add(out, " created out of sight");
    else {
        dh_str_add(out, " created by ");
        add_thread_name(out, f, t->parent);
    }
    dh_str_add(out, t->created.frames.n ? " at:\n" : "\n");
    add_stack(out, &t->created);
    dh_str_add(out, "\n");
}

void dh_text_title(struct dh_str *out, const struct dh_finding *f)
{
    const char *of = is_after_end(f) ? "on" : words_of(f)->of;
    add_kind(out, f);
    if (f->variable[0])
        dh_str_addf(out, "%s%s %s", of[0] ? " " : "", of, f->variable);
    if (f->variable[0] && f->type[0])
        dh_str_addf(out, " (%s)", f->type);
    if (is_suspected(f))
        dh_str_addf(out, ", suspected by %s", f->detector);
}

static void add_summary(struct dh_str *out, const struct dh_finding *f)
{
    dh_str_add(out, "SUMMARY: deadheat: ");
    add_kind(out, f);
    dh_str_add(out, " ");
    if (f->accesses.n)
        dh_text_place(out, &f->accesses.at[0]);
    dh_str_add(out, "\n");
}

void dh_text_finding(struct dh_str *out, const struct dh_finding *f)
{
    dh_str_add(out, RULE "WARNING: deadheat: ");
    dh_text_title(out, f);
    if (f->pid) /* else it did not run */
        dh_str_addf(out, " (pid=%u)", f->pid);
    dh_str_add(out, "\n");
    if (f->text[0])
        dh_str_addf(out, "  %s\n", f->text);
    for (size_t i = 0; i < f->accesses.n; i++)
        add_access(out, f, i);
    add_object(out, f);
    for (size_t i = 0; i < f->threads.n; i++)
        add_thread(out, f, &f->threads.at[i]);
    add_summary(out, f);
    dh_str_add(out, RULE);
}

/* ---- the format ---- */

static void nothing(struct dh_str *out)
{
    (void)out;
}

static void add_report(struct dh_str *out, size_t index, const struct dh_finding *f)
{
    (void)index;
    dh_text_finding(out, f);
}

const struct dh_report_format dh_report_format_text = {
    .name = "text", .is_prose = true, .begin = nothing, .finding = add_report, .end = nothing};
