/* deadheat report: what the store holds. */
#include "cmd/command.h"
#include "event/finding_log.h"
#include "finding/store.h"
#include "host/file.h"
#include "launch/detector_list.h"
#include "launch/launch.h"
#include "report/formats.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Findings on one variable, in the order in which they were met. */
struct group {
    char *variable;
    struct dh_str text;
    size_t n;
};

struct printing {
    const struct dh_report_format *format;
    struct dh_str out; /* the document, of a format that is not prose */
    DH_VEC(struct group) groups;
    size_t n;
};

static void add_status(struct dh_str *out, const struct dh_finding *f)
{
    bool judged = f->verdict != DH_VERDICT_NONE;
    char day[32] = "";
    time_t at = (time_t)f->first_seen;
    struct tm parts;
    if (localtime_r(&at, &parts))
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &parts);
    dh_str_addf(out, "Finding %s: %s, %s%s%s, seen in %lld run%s since %s, program %s\n\n", f->id,
                dh_finding_kind_name(f->kind), dh_finding_level_name(f->level), judged ? ", " : "",
                judged ? dh_finding_verdict_name(f->verdict) : "", f->runs, f->runs == 1 ? "" : "s", day,
                dh_text_path(f->program));
    if (f->witness[0]) {
        out->n--; /* before the empty line */
        dh_str_addf(out, "Witness: deadheat replay %s\n\n", dh_text_path(f->witness));
    }
}

static struct group *group_of(struct printing *p, const char *variable)
{
    for (size_t i = 0; variable[0] && i < p->groups.n; i++)
        if (strcmp(p->groups.at[i].variable, variable) == 0)
            return &p->groups.at[i];
    struct group g = {.variable = dh_strdup(variable)};
    dh_vec_push(&p->groups, g);
    return &p->groups.at[p->groups.n - 1];
}

static void add_to_group(void *arg, const struct dh_finding *f)
{
    struct printing *p = arg;
    struct group *g = group_of(p, f->variable);
    dh_text_finding(&g->text, f);
    add_status(&g->text, f);
    g->n++;
    p->n++;
}

static void print_groups(struct printing *p)
{
    for (size_t i = 0; i < p->groups.n; i++) {
        struct group *g = &p->groups.at[i];
        if (g->n > 1)
            printf("%zu findings on %s:\n\n", g->n, g->variable);
        printf("%s", g->text.at);
    }
}

static void release(struct printing *p)
{
    for (size_t i = 0; i < p->groups.n; i++) {
        free(p->groups.at[i].variable);
        dh_str_release(&p->groups.at[i].text);
    }
    dh_vec_release(&p->groups);
    dh_str_release(&p->out);
}

static void add_to_document(void *arg, const struct dh_finding *f)
{
    struct printing *p = arg;
    p->format->finding(&p->out, p->n++, f);
}

/* Runs that were killed before they could store theirs. */
static bool store_left(const char *db, struct dh_err *err)
{
    if (!dh_logs_have_abandoned(db))
        return true;
    struct dh_store *s = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_import i = {0};
    bool ok = s && dh_logs_store_abandoned(db, s, &i, err);
    dh_launch_notes("report", &i);
    dh_import_release(&i);
    dh_store_close(s);
    return ok;
}

static bool is_id(const char *id)
{
    return id[strspn(id, "0123456789abcdef")] == 0 && strlen(id) <= 16;
}

static const char *kind_word(size_t i)
{
    return i < DH_FINDING_KIND_COUNT ? dh_finding_kind_name((uint32_t)i) : NULL;
}

static const char *level_word(size_t i)
{
    return i < DH_LEVEL_COUNT ? dh_finding_level_name((uint32_t)i) : NULL;
}

static const char *detector_word(size_t i)
{
    if (dh_detector_list_at(i))
        return dh_detector_list_at(i)->name;
    return i && dh_detector_list_at(i - 1) ? "static" : NULL;
}

/* Whether every word of the list is one of those; complains. */
static bool are_words(const char *option, const char *list, const char *(*word_at)(size_t i))
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t n = strcspn(at, ","), i = 0;
        while (word_at(i) && !(strlen(word_at(i)) == n && strncmp(word_at(i), at, n) == 0))
            i++;
        if (word_at(i))
            continue;
        struct dh_str all = {0};
        for (i = 0; word_at(i); i++)
            dh_str_addf(&all, "%s%s", i ? ", " : "", word_at(i));
        dh_notice("report: --%s=%s: no %s '%.*s'; there are %s", option, list, option, (int)n, at, all.at);
        dh_str_release(&all);
        return false;
    }
    return true;
}

static bool is_choice(const struct dh_store_choice *c)
{
    if (c->id && !is_id(c->id)) {
        dh_notice("report: --id=%s: an id has up to 16 hexadecimal digits", c->id);
        return false;
    }
    return are_words("kind", c->kinds, kind_word) && are_words("level", c->levels, level_word) &&
           are_words("detector", c->detectors, detector_word);
}

static bool read_store(const char *db, const struct dh_store_choice *choice, struct printing *p, struct dh_err *err)
{
    struct dh_store *s = dh_store_open(db, DH_STORE_READ, err);
    bool ok = s && dh_store_each(s, choice, p->format->is_prose ? add_to_group : add_to_document, p, err);
    dh_store_close(s);
    return ok;
}

/* No store is what a project has before its first run: no error. */
static int print_all(const char *db, const struct dh_store_choice *choice, struct printing *p)
{
    struct dh_err err = {0};
    bool ok = store_left(db, &err), is_new = ok && !dh_file_exists(db);
    p->format->begin(&p->out);
    if (!ok || (!is_new && !read_store(db, choice, p, &err)))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (choice->id && !p->n) {
        dh_notice("report: no finding %s in %s", choice->id, db);
        return DH_EXIT_USAGE;
    }
    p->format->end(&p->out);
    if (!p->format->is_prose)
        fputs(p->out.at, stdout);
    else if (is_new)
        printf("no findings yet: there is no store %s\n", db);
    else {
        print_groups(p);
        printf("%zu finding%s in %s\n", p->n, p->n == 1 ? "" : "s", db);
    }
    return DH_EXIT_OK;
}

static int report(const struct dh_parsed *p)
{
    char **operands;
    struct dh_store_choice choice = {.id = dh_option_get(p, "id"),
                                     .kinds = dh_option_get(p, "kind"),
                                     .levels = dh_option_get(p, "level"),
                                     .detectors = dh_option_get(p, "detector")};
    struct printing printing = {.format = dh_report_format_find(dh_option_get(p, "format"))};
    if (dh_operands(p, &operands)) {
        dh_notice("report: unexpected '%s'; the store is named with --db=FILE", operands[0]);
        return DH_EXIT_USAGE;
    }
    if (!is_choice(&choice))
        return DH_EXIT_USAGE;
    int code = print_all(dh_option_get(p, "db"), &choice, &printing);
    release(&printing);
    return code;
}

static int run_report(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, report);
}

static const struct dh_option options[] = {
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings"},
    {"format", DH_OPTION_CHOICE, dh_report_format_choice, dh_report_format_default,
     "reports as they were printed, or a JSON document"},
    {"id", DH_OPTION_STRING, "ID", NULL, "only the finding whose id begins so"},
    {"kind", DH_OPTION_STRING, "KIND,...", NULL,
     "only these: race, view, atomicity, deadlock, critical-wait, indefinite-wait, lost-wakeup, lock-misuse, "
     "use-after-free, annotation, assertion, crash"},
    {"level", DH_OPTION_STRING, "LEVEL,...", NULL, "only these: suspected, observed, proven"},
    {"detector", DH_OPTION_STRING, "DETECTOR,...", NULL, "only what these have raised to its level"},
    {0}};

const struct dh_command dh_command_report = {
    .name = "report",
    .usage = "[OPTION...]",
    .summary = "show the findings of earlier runs",
    .description =
        "Shows what 'deadheat run' and 'deadheat check' have stored: every access, lock and wait with its stack, "
        "locks\n"
        "and thread, the values, the object; below each its id, level and in how many runs it was seen. Equal "
        "findings\n"
        "of several runs and builds are one; an id survives rebuilding and unrelated edits. Findings on one variable\n"
        "stand together. Without a store there are no findings yet: exit status 0.",
    .examples = "  deadheat report\n  deadheat report --id=3f2a\n  deadheat report --level=observed,proven\n"
                "  deadheat report --format=json | jq '.findings[].variable'\n",
    .options = options,
    .run = run_report,
};
