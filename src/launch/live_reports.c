#include "launch/live_reports.h"

#include "finding/log_import.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

void dh_live_reports_init(struct dh_live_reports *t, const char *suppressions, void (*report)(const char *text))
{
    struct dh_err ignored = {0};
    *t = (struct dh_live_reports){.report = report};
    if (suppressions)
        dh_suppressions_read(&t->suppressions, suppressions, &ignored);
    dh_err_release(&ignored);
}

static void forget(struct dh_postponed_report *l)
{
    free(l->id);
    free(l->text);
    *l = (struct dh_postponed_report){0};
}

void dh_live_reports_release(struct dh_live_reports *t)
{
    for (size_t i = 0; i < t->later.n; i++)
        forget(&t->later.at[i]);
    dh_vec_release(&t->later);
    dh_suppressions_release(&t->suppressions);
}

static bool is_suspected(const struct dh_finding *f)
{
    return f->level == DH_LEVEL_SUSPECTED;
}

/* Reported at that level already, or about to be. */
static void drop(void *arg, const struct dh_finding *f)
{
    struct dh_live_reports *t = arg;
    for (size_t i = 0; i < t->later.n; i++) {
        struct dh_postponed_report *l = &t->later.at[i];
        if (l->id && strcmp(l->id, f->id) == 0 && (!l->observed || !is_suspected(f)))
            forget(l);
    }
}

/* Kinds that detectors inside the program report, too. */
static bool may_be_reported_inside(const struct dh_finding *f)
{
    return dh_kind_is_in(f->kind, DH_KIND_BIT(RACE) | DH_KIND_BIT(ATOMICITY) | DH_KIND_BIT(DEADLOCK) |
                                      DH_KIND_BIT(CRITICAL_WAIT) | DH_KIND_BIT(INDEFINITE_WAIT) |
                                      DH_KIND_BIT(LOST_WAKEUP) | DH_KIND_BIT(LOCK_MISUSE));
}

static void report_finding(struct dh_live_reports *t, const struct dh_finding *f)
{
    struct dh_str out = {0};
    dh_text_finding(&out, f);
    drop(t, f);
    if (t->waits && may_be_reported_inside(f)) {
        struct dh_postponed_report l = {dh_strdup(f->id), dh_str_take(&out), !is_suspected(f)};
        dh_vec_push(&t->later, l);
        return;
    }
    t->report(out.at);
    dh_str_release(&out);
}

static bool found(void *arg, const struct dh_finding *f)
{
    struct dh_live_reports *t = arg;
    if (dh_suppressions_find(&t->suppressions, f)) {
        t->suppressed++;
        return false;
    }
    if (t->report)
        report_finding(t, f);
    return true;
}

struct dh_finding_sink dh_live_reports_sink(struct dh_live_reports *t)
{
    return (struct dh_finding_sink){found, t};
}

void dh_live_reports_finish(struct dh_live_reports *t, const char *log_prefix)
{
    if (t->later.n && log_prefix)
        dh_logs_each_finding(log_prefix, DH_LIVE_LOG_SUFFIX, drop, t);
    for (size_t i = 0; i < t->later.n; i++)
        if (t->later.at[i].text)
            t->report(t->later.at[i].text);
}
