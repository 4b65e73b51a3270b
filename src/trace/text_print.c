/* Prints events and what they are about as lines of a text trace. */
#include "trace/text.h"

#include "trace/text_keywords.h"

#include <stdlib.h>
#include <string.h>

/* A word that the reader takes as one. */
static void add_value(struct dh_str *out, const char *text)
{
    if (text[0] && !strpbrk(text, " \t\n\v\f\r\"\\#")) {
        dh_str_add(out, text);
        return;
    }
    dh_str_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            dh_str_add(out, "\\");
        dh_str_add_n(out, *text == '\n' ? " " : text, 1);
    }
    dh_str_add(out, "\"");
}

static void add_word(struct dh_str *out, const char *key, const struct dh_text_keyword *words, unsigned value)
{
    const char *name = dh_text_keyword_of(words, value);
    if (name)
        dh_str_addf(out, " %s=%s", key, name);
}

static void add_size(struct dh_str *out, uint64_t size)
{
    dh_str_addf(out, " size=%llu", (unsigned long long)size);
}

static void add_atomic(struct dh_str *out, const struct dh_event *e)
{
    unsigned op = dh_event_atomic_op(e);
    if (op == DH_OP_ATOMIC_CAS && !dh_event_atomic_wrote(e))
        op |= DH_TEXT_CAS_FAILED;
    add_size(out, dh_event_atomic_size(e));
    add_word(out, "op", dh_text_ops, op);
    add_word(out, "order", dh_text_orders, dh_event_atomic_order(e));
}

static void add_arg(struct dh_str *out, const struct dh_event *e)
{
    unsigned group = dh_event_info(e->kind)->group;
    if (group == DH_EVENTS_ACCESS || group == DH_EVENTS_MEMORY)
        add_size(out, e->arg);
    if (group == DH_EVENTS_MEMORY && e->flags)
        add_word(out, "region", dh_text_regions, e->flags);
    else if (e->kind == DH_EVENT_ATOMIC)
        add_atomic(out, e);
    else if (e->kind == DH_EVENT_FENCE)
        add_word(out, "order", dh_text_orders, (unsigned)e->arg);
    else if ((group == DH_EVENTS_ORDER || group == DH_EVENTS_WAIT) && e->arg)
        add_word(out, "class", dh_text_classes, (unsigned)e->arg);
    else if (group == DH_EVENTS_CONDITION && e->arg)
        dh_str_addf(out, " mutex=0x%llx", (unsigned long long)e->arg);
    else if (group == DH_EVENTS_COLLISION)
        dh_str_addf(out, " size=%u with=%u", (unsigned)(e->arg & UINT32_MAX), (unsigned)(e->arg >> 32));
}

static void add_object(struct dh_str *out, const struct dh_event *e)
{
    enum dh_text_object takes = dh_text_object_of(e->kind);
    if (takes == DH_OBJECT_THREAD || takes == DH_OBJECT_MAYBE_THREAD)
        dh_str_addf(out, " %llu", (unsigned long long)e->arg);
    else if (takes == DH_OBJECT_MEMORY || (takes == DH_OBJECT_MAYBE && e->addr))
        dh_str_addf(out, " 0x%llx", (unsigned long long)e->addr);
}

static void add_flags(struct dh_str *out, const struct dh_event *e)
{
    if (dh_event_info(e->kind)->group == DH_EVENTS_MEMORY)
        return;
    for (const struct dh_text_keyword *w = dh_text_flags; w->name; w++)
        if (e->flags & w->value)
            dh_str_addf(out, " %s", w->name);
}

static void add_place(struct dh_str *out, const struct dh_run_host *host, uint32_t place)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = host->site && place != DH_NO_PLACE ? host->site(host->arg, place, &t) : NULL;
    if (!s)
        return;
    const char *variable = dh_site_string(t, s->variable), *function = dh_site_string(t, s->function);
    if (variable[0]) {
        dh_str_add(out, " var=");
        add_value(out, variable);
    }
    if (function[0]) {
        dh_str_add(out, " in=");
        add_value(out, function);
    }
    const char *file = dh_site_string(t, s->file);
    if (file[0]) {
        char *at = dh_format("%s:%u", file, s->line);
        dh_str_add(out, " @");
        add_value(out, at);
        free(at);
    }
}

void dh_text_print(struct dh_str *out, const struct dh_run_host *host, const struct dh_event *e)
{
    dh_str_addf(out, "%u %s", e->thread, dh_event_info(e->kind)->name);
    add_object(out, e);
    add_arg(out, e);
    add_flags(out, e);
    if (e->ctx)
        dh_str_addf(out, " ctx=%u", e->ctx);
    add_place(out, host, e->site);
    dh_str_add(out, "\n");
}
