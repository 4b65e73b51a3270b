#include "cmd/classify_print.h"

#include "cmd/terminal.h"
#include "prove/schedule_text.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned terminal_width(void)
{
    struct winsize w;
    return ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 120;
}

void dh_classify_progress(const char *variable, const char *what, uint64_t left_ns)
{
    static bool reported;
    if (variable && dh_terminal_line_is_due())
        fprintf(stderr, "deadheat: classify: %s, %s, %.1f s left for it\n", variable, what, (double)left_ns / 1e9);
    if (variable && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[Kclassify: %s, %s, %.1f s left for it", variable, what, (double)left_ns / 1e9);
        fflush(stderr);
        reported = true;
    } else if (reported) {
        fputs("\r\033[K", stderr);
        reported = false;
    }
}

/* ---- the baseline ---- */

void dh_baseline_print(const struct dh_baseline *b)
{
    printf("baseline: %llu runs, %u outcome%s, exit status %d, %llu operations, %u threads%s%s\n",
           (unsigned long long)b->schedules, b->n_outcomes, b->n_outcomes == 1 ? "" : "s", b->status,
           (unsigned long long)b->operations, b->threads,
           b->output_varies ? "; the output is another one in many runs and does not count" : "",
           b->errors_vary ? "; standard error is another one in many runs and does not count" : "");
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (b->ends[i] && i != DH_ENGINE_DONE && i != DH_ENGINE_CUT)
            printf("  %llu of them end otherwise already (%s): such ends count for nothing below\n",
                   (unsigned long long)b->ends[i], dh_engine_end_names[i]);
    printf("\n");
    fflush(stdout);
}

/* ---- one of them ---- */

static void print_failure(const struct dh_classified *d, struct dh_subject *s, const char *path, bool whole)
{
    struct dh_str steps = {0};
    uint32_t stale = d->run.end->n_stale;
    printf("  %s\n  %s\n", d->why, d->explanation);
    if (d->is_free) {
        printf("  model %s, heuristic %s: %llu of %llu runs failed; %u stale read%s; threads ran free, so it has no "
               "schedule to replay\n",
               d->failed->model, d->failed->title, (unsigned long long)d->failed->failed,
               (unsigned long long)d->failed->runs, stale, stale == 1 ? "" : "s");
        return;
    }
    printf(
        "  model %s, heuristic %s: %llu of %llu runs failed; %u stale read%s (found with %u), %u steps; replayed with "
        "kernel threads\n",
        d->failed->model, d->failed->title, (unsigned long long)d->failed->failed, (unsigned long long)d->failed->runs,
        stale, stale == 1 ? "" : "s", d->run.stale_before, d->run.schedule.n);
    dh_schedule_text(&steps, s, &d->run.schedule, d->run.end, terminal_width(), whole);
    printf("\n%s\n  deadheat replay %s -- %s\n", steps.at, dh_text_path(path), s->called);
    dh_str_release(&steps);
}

static void print_place(const struct dh_finding_access *a)
{
    struct dh_str s = {0};
    dh_text_place(&s, a);
    printf("%s (%s)", s.at, a->op);
    dh_str_release(&s);
}

/* Where a variable races at several pairs of places, each has a verdict of its own. */
static void print_pairs(const struct dh_classified *d)
{
    for (size_t i = 0; d->pairs.n > 1 && i < d->pairs.n; i++) {
        const struct dh_classified_pair *p = &d->pairs.at[i];
        printf("  %.8s ", p->finding->id);
        for (size_t k = 0; k < p->finding->accesses.n && k < 2; k++) {
            printf("%s", k ? " / " : "");
            print_place(&p->finding->accesses.at[k]);
        }
        printf(": %s, %s\n", dh_finding_verdict_name(p->verdict), p->why);
    }
}

void dh_classified_print(const struct dh_classified *d, struct dh_subject *s, const char *path, bool whole)
{
    printf("%s: %s", dh_finding_verdict_name(d->verdict), d->variable->name);
    for (size_t i = 0; i < d->variable->findings.n; i++)
        printf("%s%.8s%s", i ? " " : "  [", d->variable->findings.at[i]->id,
               i + 1 == d->variable->findings.n ? "]" : "");
    printf("\n");
    if (d->variable->also[0])
        printf("  accessed as %s, too\n", d->variable->also);
    if (d->variable->members.n)
        printf("  together: none of them does harm alone, and none can be spared\n");
    if (d->failed)
        print_failure(d, s, path, whole);
    else if (d->why[0])
        printf("  %s\n", d->why);
    if (d->unconfirmed)
        printf("  %llu failing run%s did not happen with kernel threads and do not count\n",
               (unsigned long long)d->unconfirmed, d->unconfirmed == 1 ? "" : "s");
    print_pairs(d);
    if (d->failed)
        printf("\n");
    fflush(stdout);
}

/* ---- the table ---- */

void dh_classified_table_add(struct dh_classified_table *t, const struct dh_classified *c)
{
    struct dh_classified_row row = {.name = dh_strdup(c->variable->name),
                                    .verdict = dh_finding_verdict_name(c->verdict),
                                    .n_columns = c->n_columns};
    memcpy(row.columns, c->columns, sizeof row.columns);
    dh_vec_push(&t->rows, row);
}

static const struct dh_classify_column *column_of(const struct dh_classified_row *r, const char *title)
{
    for (unsigned i = 0; i < r->n_columns; i++)
        if (strcmp(r->columns[i].title, title) == 0)
            return &r->columns[i];
    return NULL;
}

static void print_row(const struct dh_classified_row *r, const struct dh_classified_row *heads, int width)
{
    printf("%-*s", width, r->name);
    for (unsigned k = 0; k < heads->n_columns; k++) {
        const struct dh_classify_column *column = column_of(r, heads->columns[k].title);
        int n = (int)strlen(heads->columns[k].title);
        if (column && column->runs)
            printf("  %*.0f", n, 100.0 * (double)column->failed / (double)column->runs);
        else
            printf("  %*s", n, "-");
    }
    printf("  %s\n", r->verdict);
}

void dh_classified_table_print(const struct dh_classified_table *t)
{
    const struct dh_classified_row *most = NULL;
    int width = (int)strlen("variable");
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct dh_classified_row *r = &t->rows.at[i];
        width = (int)strlen(r->name) > width ? (int)strlen(r->name) : width;
        most = !most || r->n_columns > most->n_columns ? r : most;
    }
    if (!most)
        return;
    printf("runs that failed, in percent\n%-*s", width, "variable");
    for (unsigned i = 0; i < most->n_columns; i++)
        printf("  %s", most->columns[i].title);
    printf("  verdict\n");
    for (size_t i = 0; i < t->rows.n; i++)
        print_row(&t->rows.at[i], most, width);
}

void dh_classified_table_release(struct dh_classified_table *t)
{
    for (size_t i = 0; i < t->rows.n; i++)
        free(t->rows.at[i].name);
    dh_vec_release(&t->rows);
}
