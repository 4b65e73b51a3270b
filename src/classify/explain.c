#include "classify/explain.h"

#include "finding/value_text.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 100 };

static bool put_place(struct dh_str *out, struct dh_subject *s, uint32_t place)
{
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(s->places, place, &t);
    if (!site || !site->line)
        return false;
    dh_str_addf(out, "%s:%u", dh_basename(dh_site_string(t, site->file)), site->line);
    return true;
}

static void put_value(struct dh_str *out, struct dh_subject *s, const struct dh_engine_stale_read *r, uint64_t value)
{
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(s->places, r->place, &t);
    uint8_t bytes[8];
    memcpy(bytes, &value, sizeof bytes);
    bool whole = r->size <= sizeof bytes;
    char *text =
        dh_value_text(bytes, whole ? r->size : sizeof bytes, site && whole ? dh_site_string(t, site->type) : "");
    dh_str_add(out, text);
    free(text);
}

static void put_source(struct dh_str *out, struct dh_subject *s, const struct dh_engine_stale_read *r)
{
    put_value(out, s, r, r->got.value);
    if (r->is_torn) {
        dh_str_add(out, ", put together of parts of different writes");
        return;
    }
    if (r->got.place == UINT32_MAX) {
        dh_str_add(out, ", which was there before anybody wrote it");
        return;
    }
    dh_str_add(out, r->is_future ? ", which is written only later at " : ", written at ");
    if (!put_place(out, s, r->got.place))
        dh_str_add(out, "a place without a line");
    dh_str_addf(out, " by T%u", r->got.thread);
}

void dh_explain_read(struct dh_str *out, struct dh_subject *s, const struct dh_engine_stale_read *r)
{
    dh_str_addf(out, "T%u, reading at ", r->thread);
    if (!put_place(out, s, r->place))
        dh_str_add(out, "a place without a line");
    dh_str_add(out, ", got ");
    put_source(out, s, r);
    dh_str_add(out, ", although ");
    if (r->newest.place == UINT32_MAX) {
        dh_str_add(out, "memory held ");
        put_value(out, s, r, r->newest.value);
    } else {
        dh_str_addf(out, "T%u had written ", r->newest.thread);
        put_value(out, s, r, r->newest.value);
        dh_str_add(out, " at ");
        if (!put_place(out, s, r->newest.place))
            dh_str_add(out, "a place without a line");
    }
    dh_str_add(out, ": nothing orders them");
}

static void put_who(struct dh_str *out, struct dh_subject *s, const struct dh_engine_found *end)
{
    if (!end->n_parties)
        return;
    dh_str_addf(out, "%s in T%u", end->kind == DH_ENGINE_ASSERTION ? "," : "", end->parties[0].thread);
    size_t before = out->n;
    dh_str_add(out, " at ");
    if (!put_place(out, s, end->parties[0].place))
        out->n = before, out->at[before] = 0;
}

/* The last line is the one that sums up. */
static void put_outcome(struct dh_str *out, const struct dh_engine_found *end, const char *printed)
{
    size_t n = strlen(printed), from;
    while (n && printed[n - 1] == '\n')
        n--;
    for (from = n; from && printed[from - 1] != '\n';)
        from--;
    dh_str_addf(out, "it ends with exit status %d", end->status);
    if (n)
        dh_str_addf(out, " and prints \"%.*s\"", n - from > LINE_MOST ? LINE_MOST : (int)(n - from), printed + from);
}

void dh_explain_end(struct dh_str *out, struct dh_subject *s, const struct dh_engine_found *end, const char *printed)
{
    static const char *const words[DH_ENGINE_ENDS] = {
        [DH_ENGINE_DEADLOCK] = "it hangs: nobody can go on",
        [DH_ENGINE_LOST_WAKE] = "it hangs: nobody can go on, the signal came when nobody waited",
        [DH_ENGINE_ASSERTION] = "an assertion fails, or it aborts",
        [DH_ENGINE_FREED] = "memory is used after it was freed",
        [DH_ENGINE_HANG] = "it hangs: it spins without end",
    };
    if (end->kind == DH_ENGINE_CRASH)
        dh_str_addf(out, "it is killed by signal %d (%s)", end->signal, strsignal(end->signal));
    else if (end->kind == DH_ENGINE_WRONG)
        put_outcome(out, end, printed);
    else
        dh_str_add(out,
                   end->kind < DH_ENGINE_ENDS && words[end->kind] ? words[end->kind] : dh_engine_end_names[end->kind]);
    if (end->kind != DH_ENGINE_WRONG)
        put_who(out, s, end);
    if (end->text[0]) {
        char *text = dh_subject_explain_places(s, end->text);
        text[strcspn(text, "\n")] = 0;
        dh_str_addf(out, ": %s", text);
        free(text);
    }
}
