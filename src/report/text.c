#include "report/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULE "==================\n"

struct words {
    const char *kind, *title, *of;
    const char *second; /* how the second access is introduced */
};

static const struct words words[] = {
    {"race", "data race", "on", "Previous"},
    {"use-after-free", "use after free", "of", "Freed"},
    {"lock-misuse", "misuse of lock", "", "Previous"},
    {"annotation", "broken annotation", "on", "Previous"},
};
static const struct words after_end = {"use-after-free", "use after end of thread", "on", "Previous"};

/* Nobody freed what a thread that ended leaves behind: there is one access only. */
static const struct words *words_of(const struct dh_finding *f)
{
    const char *kind = f->kind;
    if (strcmp(kind, after_end.kind) == 0 && f->accesses.n == 1)
        return &after_end;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].kind, kind) == 0)
            return &words[i];
    return NULL;
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

/* How many frames from `i` on are the same call, but not across what was left out. */
static size_t repeats(const struct dh_finding_stack *s, size_t i)
{
    size_t n = 1;
    while (i + n < s->frames.n && !(s->n_cut && i + n == s->cut) && same_place(&s->frames.at[i], &s->frames.at[i + n]))
        n++;
    return n;
}

/* Numbered as they lay; of a recursion the first and the last. */
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

static void add_thread_name(struct dh_str *out, const struct dh_finding *f, uint32_t index)
{
    const struct dh_finding_thread *t = dh_finding_thread(f, index);
    if (index == DH_NO_THREAD)
        dh_str_add(out, "an unknown thread");
    else if (index == 0)
        dh_str_add(out, "main thread");
    else if (t && t->name[0])
        dh_str_addf(out, "thread T%u '%s'", index, t->name);
    else
        dh_str_addf(out, "thread T%u", index);
}

static bool is_of_the_system(const char *file)
{
    return dh_starts_with(file, "/usr/");
}

/* The innermost in a file of the user's: a container's header is not where to look. */
static const struct dh_finding_frame *named_frame(const struct dh_finding_stack *s)
{
    const struct dh_finding_frame *any = NULL;
    for (size_t i = 0; i < s->frames.n; i++) {
        const struct dh_finding_frame *f = &s->frames.at[i];
        if (f->file[0] && !is_of_the_system(f->file))
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

/* The first letter large, when a sentence begins with it. */
static void add_op(struct dh_str *out, const char *before, const char *op)
{
    size_t at = out->n;
    dh_str_addf(out, "%s%s%s", before, before[0] ? " " : "", op);
    out->at[at] = (char)toupper((unsigned char)out->at[at]);
}

static void add_headline(struct dh_str *out, const struct dh_finding *f, size_t i)
{
    const struct dh_finding_access *a = &f->accesses.at[i];
    const struct words *w = words_of(f);
    bool freed = strcmp(a->op, "free") == 0, second = i > 0;
    dh_str_add(out, "  ");
    if (freed && second)
        dh_str_add(out, w ? w->second : "Freed");
    else {
        add_op(out, second ? "previous" : "", a->op);
        if (a->size)
            dh_str_addf(out, " of size %u", a->size);
    }
    dh_str_add(out, " by ");
    add_thread_name(out, f, a->thread);
    if (a->callee[0])
        dh_str_addf(out, ", in %s", a->callee);
    dh_str_add(out, ":\n");
}

/* What was there belongs to the access that found it so. */
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
    add_values(out, f, i);
    add_locks(out, a);
    dh_str_add(out, "\n");
}

static void add_object(struct dh_str *out, const struct dh_finding *f)
{
    if (!f->object[0])
        return;
    dh_str_addf(out, "  Location is %s", f->object);
    if (f->allocated.frames.n) {
        dh_str_add(out, ", allocated by ");
        add_thread_name(out, f, f->object_thread);
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
    const struct words *w = words_of(f);
    dh_str_add(out, w ? w->title : f->kind);
    if (f->variable[0])
        dh_str_addf(out, "%s%s %s", w && w->of[0] ? " " : "", w ? w->of : "", f->variable);
    if (f->variable[0] && f->type[0])
        dh_str_addf(out, " (%s)", f->type);
}

static void add_summary(struct dh_str *out, const struct dh_finding *f)
{
    const struct words *w = words_of(f);
    dh_str_addf(out, "SUMMARY: deadheat: %s ", w ? w->title : f->kind);
    if (f->accesses.n)
        dh_text_place(out, &f->accesses.at[0]);
    dh_str_add(out, "\n");
}

void dh_text_finding(struct dh_str *out, const struct dh_finding *f)
{
    dh_str_add(out, RULE "WARNING: deadheat: ");
    dh_text_title(out, f);
    dh_str_addf(out, " (pid=%u)\n", f->pid);
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
