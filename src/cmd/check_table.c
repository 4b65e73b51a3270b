#include "cmd/check_table.h"

#include "base/str.h"
#include "finding/group.h"
#include "report/short_name.h"
#include "report/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what to type next ---- */

static void add_word(struct dh_str *s, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*word && word[strspn(word, plain)] == 0) {
        dh_str_add(s, word);
        return;
    }
    dh_str_add(s, "'");
    for (; *word; word++)
        dh_str_add_n(s, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    dh_str_add(s, "'");
}

static void add_option(struct dh_str *s, const char *option, const char *value)
{
    dh_str_addf(s, " %s", option);
    add_word(s, value);
}

static void add_program(struct dh_str *s, const struct dh_check *c, bool arguments)
{
    dh_str_add(s, " -- ");
    add_word(s, c->argv[0]);
    for (char **a = c->argv + 1; arguments && *a; a++) {
        dh_str_add(s, " ");
        add_word(s, *a);
    }
}

static void add_store(struct dh_str *s, const struct dh_check *c)
{
    if (strcmp(c->db, DH_STORE_DEFAULT) != 0)
        add_option(s, "--db=", c->db);
}

/* A command on the store that goes on where check ended. */
static void add_search(struct dh_str *s, const struct dh_check *c, const char *command, const char *more,
                       const struct dh_finding *f)
{
    dh_str_addf(s, "deadheat %s%s", command, more);
    add_store(s, c);
    if (c->input.path)
        add_option(s, "--input=", dh_text_path(c->input.path));
    dh_str_addf(s, " --id=%.8s", f->id);
    add_program(s, c, true);
}

static void add_report(struct dh_str *s, const struct dh_check *c, const struct dh_finding *f)
{
    dh_str_add(s, "deadheat report");
    add_store(s, c);
    dh_str_addf(s, " --id=%.8s", f->id);
}

static char *next_of(const struct dh_check *c, const struct dh_finding *f)
{
    struct dh_str s = {0};
    bool race = f->kind == DH_FINDING_RACE, judged = f->verdict != DH_VERDICT_NONE;
    bool healed = f->healing != DH_HEALING_NONE && access(c->policy, R_OK) == 0;
    if (healed) {
        dh_str_add(&s, "deadheat run");
        add_option(&s, "--heal=", c->policy);
        add_program(&s, c, true);
    } else if (c->is_searchable && f->level == DH_LEVEL_SUSPECTED && dh_found_is_searched(f))
        add_search(&s, c, "prove", " --budget=5m", f);
    else if (c->is_searchable && race && !judged)
        add_search(&s, c, "classify", " --budget=1m", f);
    else if (f->witness[0] && f->verdict != DH_VERDICT_NO_FAILURE) {
        dh_str_add(&s, "deadheat replay ");
        add_word(&s, dh_text_path(f->witness));
        add_program(&s, c, false);
    } else
        add_report(&s, c, f);
    return dh_str_take(&s);
}

/* ---- rows ---- */

enum { FINDING, KIND, VARIABLE, LEVEL, VERDICT, HEALING, COLUMNS };
static const char *const heads[COLUMNS] = {"finding", "kind", "variable", "level", "verdict", "healing"};

static const char *or_dash(const char *word)
{
    return strcmp(word, "none") ? word : "-";
}

static char *variable_cell(const struct dh_finding *f)
{
    char *variable = dh_short_name(f->variable), *type = dh_short_name(f->type);
    char *cell = type[0] ? dh_format("%s (%s)", variable, type) : dh_strdup(variable);
    free(variable);
    free(type);
    return cell;
}

static void cells_of(const struct dh_finding *f, char *out[COLUMNS])
{
    out[FINDING] = dh_format("%.8s", f->id);
    out[KIND] = dh_strdup(dh_finding_kind_name(f->kind));
    out[VARIABLE] = variable_cell(f);
    out[LEVEL] = dh_strdup(dh_finding_level_name(f->level));
    out[VERDICT] = dh_strdup(or_dash(dh_finding_verdict_name(f->verdict)));
    out[HEALING] = dh_strdup(or_dash(dh_finding_healing_name(f->healing)));
}

static void print_cells(const char *const *cells, const int *widths, const char *next)
{
    for (int i = 0; i < COLUMNS; i++)
        printf("%-*s  ", widths[i], cells[i]);
    printf("%s\n", next);
}

static void print_place(const struct dh_finding_access *a, size_t times)
{
    struct dh_str s = {0};
    if (a->forgotten)
        dh_str_add(&s, "place not known any more");
    else
        dh_text_place(&s, a);
    char *place = dh_short_name(s.at), *object = dh_short_name(a->object);
    printf("          %s (%s%s%s)", place, a->op, object[0] ? " " : "", object);
    if (times > 1)
        printf(", %zu times", times);
    printf("\n");
    free(place);
    free(object);
    dh_str_release(&s);
}

static bool is_same_place(const struct dh_finding_access *a, const struct dh_finding_access *b)
{
    return strcmp(a->site, b->site) == 0 && strcmp(a->op, b->op) == 0 && strcmp(a->object, b->object) == 0;
}

/* Of five philosophers at one place one line says enough, of two both are shown. */
static void print_places(const struct dh_finding *f)
{
    for (size_t i = 0, n; i < f->accesses.n; i += n) {
        for (n = 1; i + n < f->accesses.n && is_same_place(&f->accesses.at[i], &f->accesses.at[i + n]);)
            n++;
        n = n > 2 ? n : 1;
        print_place(&f->accesses.at[i], n);
    }
}

/* An atomicity violation on a variable that races is part of the race. */
static bool is_part_of(const struct dh_finding *row, const struct dh_finding *f)
{
    return row->kind == f->kind || (row->kind == DH_FINDING_RACE && f->kind == DH_FINDING_ATOMICITY);
}

/* Findings of one kind on one variable are one row, that of the first; `more` counts the others. So are those that the
 * same two calls make inside a library of the system, counted by `inside`. In a long table rows between the same
 * functions are folded into the first of them. */
struct row {
    const struct dh_finding *f;
    size_t more, inside;
    size_t unjudged; /* of `more`, races without a verdict */
    size_t elsewise; /* of `folded`, those that have another verdict than the row, or none */
    bool is_folded;
    size_t folded, variables; /* findings, and variables, of the rows that are folded into it */
    struct dh_str names;      /* of the first of these variables */
};

typedef DH_VEC(struct row) row_vec;

static struct row *row_like(row_vec *rows, const struct dh_finding *f)
{
    for (size_t i = 0; f->variable[0] && i < rows->n; i++)
        if (strcmp(rows->at[i].f->variable, f->variable) == 0 && is_part_of(rows->at[i].f, f))
            return &rows->at[i];
    return NULL;
}

static struct row *row_inside(row_vec *rows, const struct dh_finding *f)
{
    uint64_t group = dh_finding_is_between_calls(f) ? dh_finding_group(f) : 0;
    for (size_t i = 0; group && i < rows->n; i++)
        if (dh_finding_group(rows->at[i].f) == group)
            return &rows->at[i];
    return NULL;
}

static void gather(const struct dh_found *found, bool suspected, row_vec *rows)
{
    for (size_t i = 0; i < found->at.n; i++) {
        const struct dh_finding *f = found->at.at[i];
        if (f->level == DH_LEVEL_SUSPECTED && !suspected)
            continue;
        struct row *like = row_like(rows, f), *inside = like ? NULL : row_inside(rows, f);
        if (like) {
            like->more++;
            like->unjudged += f->kind == DH_FINDING_RACE && f->verdict == DH_VERDICT_NONE;
        } else if (inside)
            inside->inside++;
        else
            dh_vec_push(rows, (struct row){.f = f});
    }
}

static void release_rows(row_vec *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        dh_str_release(&rows->at[i].names);
    dh_vec_release(rows);
}

/* ---- long tables ---- */

/* A join or a lock that is missing makes every variable race that these functions use. */
enum { LONG_TABLE = 8, NAMES_SHOWN = 6 };

static const char *function_of(const struct dh_finding *f, size_t access)
{
    const struct dh_finding_stack *s = access < f->accesses.n ? &f->accesses.at[access].stack : NULL;
    return s && s->frames.n ? s->frames.at[0].function : "";
}

static bool has_same_functions(const struct dh_finding *f, const struct dh_finding *g)
{
    const char *a = function_of(f, 0), *b = function_of(f, 1), *c = function_of(g, 0), *d = function_of(g, 1);
    return *a && *b && ((!strcmp(a, c) && !strcmp(b, d)) || (!strcmp(a, d) && !strcmp(b, c)));
}

static bool is_foldable(const struct dh_finding *f)
{
    return (f->kind == DH_FINDING_RACE || f->kind == DH_FINDING_USE_AFTER_FREE) && f->accesses.n == 2;
}

static bool is_in_row(const struct row *r, const struct dh_finding *f)
{
    return f == r->f || (f->variable[0] && strcmp(f->variable, r->f->variable) == 0 && is_part_of(r->f, f));
}

/* Whether a finding of the one is between the same functions as a finding of the other. */
static bool share_functions(const struct dh_found *found, const struct row *one, const struct row *other)
{
    for (size_t i = 0; i < found->at.n; i++)
        for (size_t k = 0; is_in_row(one, found->at.at[i]) && k < found->at.n; k++)
            if (is_in_row(other, found->at.at[k]) && has_same_functions(found->at.at[i], found->at.at[k]))
                return true;
    return false;
}

static void fold_into(struct row *leader, struct row *r)
{
    char *name = dh_short_name(r->f->variable);
    r->is_folded = true;
    leader->folded += 1 + r->more;
    leader->elsewise += r->f->verdict != leader->f->verdict ? 1 + r->more : r->unjudged;
    if (leader->variables++ < NAMES_SHOWN)
        dh_str_addf(&leader->names, "%s%s", leader->names.n ? ", " : "", name[0] ? name : "memory without a name");
    free(name);
}

static void fold(const struct dh_found *found, row_vec *rows)
{
    for (size_t i = 0; rows->n > LONG_TABLE && i < rows->n; i++) {
        struct row *leader = &rows->at[i];
        if (leader->is_folded || !is_foldable(leader->f))
            continue;
        for (size_t k = i + 1; k < rows->n; k++) {
            struct row *r = &rows->at[k];
            if (!r->is_folded && is_foldable(r->f) && r->f->kind == leader->f->kind &&
                strcmp(r->f->program, leader->f->program) == 0 && share_functions(found, leader, r))
                fold_into(leader, r);
        }
    }
}

static void widen(const row_vec *rows, int widths[COLUMNS])
{
    enum { WIDEST = 40 };
    for (int k = 0; k < COLUMNS; k++)
        widths[k] = (int)strlen(heads[k]);
    for (size_t i = 0; i < rows->n; i++) {
        char *cells[COLUMNS];
        if (rows->at[i].is_folded)
            continue;
        cells_of(rows->at[i].f, cells);
        for (int k = 0; k < COLUMNS; k++) {
            int n = (int)strlen(cells[k]);
            widths[k] = n > widths[k] ? (n < WIDEST ? n : WIDEST) : widths[k];
            free(cells[k]);
        }
    }
}

/* What is printed: of one program, or of those that a script started. */
struct table {
    const struct dh_check *c;
    const struct dh_found *found;
    const struct dh_check_part *parts;
    size_t n_parts;
    bool suspected;
};

/* NULL: it is of none of them. */
static const struct dh_check_part *part_of(const struct table *t, const struct dh_finding *f)
{
    for (size_t i = 0; i < t->n_parts; i++)
        if (strcmp(t->parts[i].check.program, f->program) == 0)
            return &t->parts[i];
    return NULL;
}

static char *next_in_part(const struct table *t, const struct dh_check_part *p, const struct dh_finding *f)
{
    char *next = next_of(p ? &p->check : t->c, f);
    if (!p || !p->folder)
        return next;
    struct dh_str s = {0};
    dh_str_add(&s, "(cd ");
    add_word(&s, p->folder);
    dh_str_addf(&s, " && %s)", next);
    free(next);
    return dh_str_take(&s);
}

/* What the row stands for beside its finding. */
static void print_more(const struct row *r)
{
    if (r->more)
        printf("          and %zu more on it", r->more);
    if (r->more && r->unjudged && r->f->verdict != DH_VERDICT_NONE)
        printf(", %zu without a verdict", r->unjudged);
    if (r->more)
        printf("\n");
    if (!r->folded)
        return;
    printf("          and %zu more between the same functions, on %s", r->folded, r->names.at);
    if (r->variables > NAMES_SHOWN)
        printf(" and %zu others", r->variables - NAMES_SHOWN);
    if (r->elsewise && r->f->verdict != DH_VERDICT_NONE)
        printf("; the verdict is not that of %zu of them", r->elsewise);
    printf("\n");
}

/* "why" of a JSON object that is kept with a finding, or "". Owned by the caller. */
static char *why_in(const char *details)
{
    json_t *o = details[0] ? json_loads(details, 0, NULL) : NULL;
    const char *why = json_string_value(json_object_get(o, "why"));
    char *copy = dh_strdup(why ? why : "");
    json_decref(o);
    return copy;
}

/* No failure is said only of what was tried, and healing that failed has a reason. */
static void print_grounds(const struct dh_finding *f)
{
    char *tried = why_in(f->classification), *refused = why_in(f->healed);
    if (f->verdict == DH_VERDICT_NO_FAILURE && tried[0])
        printf("          no-failure: %s\n", tried);
    if (f->healing != DH_HEALING_VERIFIED && refused[0])
        printf("          not healed: %s\n", refused);
    free(tried);
    free(refused);
}

static void print_rows(const struct table *t, const row_vec *rows)
{
    int widths[COLUMNS];
    widen(rows, widths);
    print_cells(heads, widths, "next");
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->at[i].is_folded)
            continue;
        const struct dh_check_part *part = part_of(t, rows->at[i].f);
        char *cells[COLUMNS], *next = next_in_part(t, part, rows->at[i].f);
        cells_of(rows->at[i].f, cells);
        print_cells((const char *const *)cells, widths, next);
        print_places(rows->at[i].f);
        print_grounds(rows->at[i].f);
        if (part)
            printf("          of %s\n", part->words);
        print_more(&rows->at[i]);
        if (rows->at[i].inside)
            printf("          and %zu more inside these calls\n", rows->at[i].inside);
        for (int k = 0; k < COLUMNS; k++)
            free(cells[k]);
        free(next);
    }
    printf("\n");
}

/* ---- sums ---- */

/* ": 1 proven, 2 observed", unless all are alike. */
static void print_levels(const struct dh_found *found, bool suspected)
{
    size_t n[DH_LEVEL_COUNT] = {0}, all = 0, printed = 0;
    for (size_t i = 0; i < found->at.n; i++)
        n[found->at.at[i]->level]++;
    all = n[DH_LEVEL_PROVEN] + n[DH_LEVEL_OBSERVED] + (suspected ? n[DH_LEVEL_SUSPECTED] : 0);
    printf("%zu finding%s", all, all == 1 ? "" : "s");
    for (int k = DH_LEVEL_PROVEN; k >= (suspected ? DH_LEVEL_SUSPECTED : DH_LEVEL_OBSERVED); k--)
        if (n[k] && n[k] < all)
            printf("%s%zu %s", printed++ ? ", " : ": ", n[k], dh_finding_level_name((uint32_t)k));
}

/* Suspicions on a variable that has a row already do not count. */
static bool counts(const struct dh_finding *f, row_vec *rows)
{
    return f->level == DH_LEVEL_SUSPECTED && !row_like(rows, f);
}

/* By detector. */
static size_t count_suspicions(const struct dh_found *found, row_vec *rows, struct dh_str *by)
{
    size_t all = 0;
    for (size_t i = 0; i < found->at.n; i++) {
        const char *who = found->at.at[i]->detector;
        size_t n = 0;
        bool reported = false;
        if (!counts(found->at.at[i], rows))
            continue;
        for (size_t k = 0; k < found->at.n; k++)
            if (strcmp(found->at.at[k]->detector, who) == 0 && counts(found->at.at[k], rows)) {
                reported |= k < i;
                n++;
            }
        all++;
        if (!reported)
            dh_str_addf(by, "%s%zu by %s", by->n ? ", " : "", n, who);
    }
    return all;
}

static void print_suspicions(const struct dh_check *c, const struct dh_found *found, row_vec *rows)
{
    struct dh_str by = {0}, command = {0};
    size_t all = count_suspicions(found, rows, &by);
    dh_str_add(&command, "deadheat report");
    add_store(&command, c);
    if (all)
        printf("%zu only suspected, and not seen in any run (%s): %s --level=suspected\n", all, by.at, command.at);
    dh_str_release(&by);
    dh_str_release(&command);
}

static bool is_late(const struct dh_check *c)
{
    return c->state->hosting.verdict == DH_HOSTING_RIGHT && !c->state->schedules;
}

/* What kept searches from being evidence, or NULL. */
static const char *doubt_of(const struct dh_check *c)
{
    const struct dh_stage_state *t = c->state;
    if (is_late(c))
        return "there was no time to complete a search";
    if (t->hosting.verdict == DH_HOSTING_UNKNOWN)
        return t->cannot[0] ? t->cannot : NULL;
    return t->hosting.why[0] && t->hosting.verdict != DH_HOSTING_NO_THREADS ? t->hosting.why : NULL;
}

/* It ended, well or not, before it made one. */
static bool has_no_threads(const struct dh_check *c)
{
    return c->state->hosting.verdict == DH_HOSTING_NO_THREADS && !c->state->schedules;
}

static void print_effort(const struct dh_check *c)
{
    if (has_no_threads(c)) {
        printf("%u run%s ended without a thread: there was nothing to interleave, and nothing was searched\n", c->runs,
               c->runs == 1 ? "" : "s");
        return;
    }
    if (doubt_of(c)) {
        printf("%u run%s with detectors showed nothing\n", c->runs, c->runs == 1 ? "" : "s");
        return;
    }
    printf("nothing found in %u run%s", c->runs, c->runs == 1 ? "" : "s");
    if (c->state->schedules)
        printf(" and %llu schedules%s", (unsigned long long)c->state->schedules,
               c->state->exhausted ? ", which are all there are with this input" : "");
    printf("\n");
}

static void print_parts(const struct table *t)
{
    int widest = 0;
    for (size_t i = 0; i < t->n_parts; i++)
        widest = (int)strlen(t->parts[i].words) > widest ? (int)strlen(t->parts[i].words) : widest;
    for (size_t i = 0; i < t->n_parts; i++)
        printf("%-*s  %s\n", widest < 60 ? widest : 60, t->parts[i].words, t->parts[i].result);
}

static void print_table(const struct table *t)
{
    row_vec rows = {0};
    gather(t->found, t->suspected, &rows);
    fold(t->found, &rows);
    print_parts(t);
    if (rows.n) {
        struct dh_str report = {0};
        if (t->n_parts)
            printf("\n");
        print_rows(t, &rows);
        print_levels(t->found, t->suspected);
        add_report(&report, t->c, rows.at[0].f);
        printf(". Stacks, locks and values: %s\n", report.at);
        dh_str_release(&report);
    } else if (!t->n_parts) {
        printf("deadheat: ");
        print_effort(t->c);
    }
    if (!t->suspected)
        print_suspicions(t->c, t->found, &rows);
    if (doubt_of(t->c))
        printf("%s: %s\n",
               t->c->state->cannot[0] || is_late(t->c) ? "Schedules were not searched"
                                                       : "An empty search shows nothing here",
               doubt_of(t->c));
    release_rows(&rows);
}

void dh_check_table_print(const struct dh_check *c, const struct dh_found *found, bool suspected)
{
    print_table(&(struct table){.c = c, .found = found, .suspected = suspected});
}

void dh_check_table_print_parts(const struct dh_check *c, const struct dh_found *found, bool suspected,
                                const struct dh_check_part *parts, size_t n)
{
    print_table(&(struct table){c, found, parts, n, suspected});
}

void dh_check_line_print(const struct dh_check *c, const struct dh_found *found)
{
    row_vec rows = {0};
    gather(found, false, &rows);
    if (c->state->cannot[0])
        printf("not searched: %s\n", c->state->cannot);
    else if (rows.n) {
        print_levels(found, false);
        printf("\n");
    } else
        print_effort(c);
    release_rows(&rows);
}
