/* deadheat report: what the store holds. */
#include "cmd/command.h"
#include "cmd/launch.h"
#include "finding/store.h"
#include "host/file.h"
#include "report/json.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct printing {
    struct dh_str out;
    size_t n;
};

static void add_status(struct dh_str *out, const struct dh_finding *f)
{
    char day[32] = "";
    time_t at = (time_t)f->first_seen;
    struct tm parts;
    if (localtime_r(&at, &parts))
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &parts);
    dh_str_addf(out, "Finding %s: %s, %s%s%s, seen in %lld run%s since %s, program %s\n\n", f->id, f->kind, f->level,
                strcmp(f->verdict, "none") ? ", " : "", strcmp(f->verdict, "none") ? f->verdict : "", f->runs,
                f->runs == 1 ? "" : "s", day, dh_text_path(f->program));
}

static void as_text(void *arg, const struct dh_finding *f)
{
    struct printing *p = arg;
    dh_text_finding(&p->out, f);
    add_status(&p->out, f);
    p->n++;
}

static void as_json(void *arg, const struct dh_finding *f)
{
    struct printing *p = arg;
    dh_str_add(&p->out, p->n++ ? ",\n" : "\n");
    dh_report_json(&p->out, f);
}

/* Runs that were killed before they could store theirs. */
static bool store_left(const char *db, struct dh_err *err)
{
    if (!dh_logs_are_left(db))
        return true;
    struct dh_store *s = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_import i = {0};
    bool ok = s && dh_logs_store_left(db, s, &i, err);
    dh_launch_notes("report", &i);
    dh_import_release(&i);
    dh_store_close(s);
    return ok;
}

static bool is_id(const char *id)
{
    return id[strspn(id, "0123456789abcdef")] == 0 && strlen(id) <= 16;
}

static int print_all(const char *db, const char *id, bool json, struct printing *p)
{
    struct dh_err err = {0};
    struct dh_store_choice choice = {.id = id};
    struct dh_store *s = store_left(db, &err) ? dh_store_open(db, DH_STORE_READ, &err) : NULL;
    bool ok = s && dh_store_each(s, &choice, json ? as_json : as_text, p, &err);
    dh_store_close(s);
    if (!ok)
        return dh_fail(&err, dh_file_exists(db) ? DH_EXIT_FAILURE : DH_EXIT_USAGE);
    if (id && !p->n) {
        dh_complain("report: no finding %s in %s", id, db);
        return DH_EXIT_USAGE;
    }
    if (json)
        printf("{\"version\":1,\"findings\":[%s\n]}\n", p->out.at ? p->out.at : "");
    else
        printf("%s%zu finding%s in %s\n", p->out.at ? p->out.at : "", p->n, p->n == 1 ? "" : "s", db);
    return DH_EXIT_OK;
}

static int report(const struct dh_parsed *p)
{
    char **operands;
    const char *id = dh_option_get(p, "id");
    struct printing printing = {0};
    if (dh_operands(p, &operands)) {
        dh_complain("report: unexpected '%s'; the store is named with --db=FILE", operands[0]);
        return DH_EXIT_USAGE;
    }
    if (id && !is_id(id)) {
        dh_complain("report: --id=%s: an id has up to 16 hexadecimal digits", id);
        return DH_EXIT_USAGE;
    }
    int code = print_all(dh_option_get(p, "db"), id, strcmp(dh_option_get(p, "format"), "json") == 0, &printing);
    dh_str_release(&printing.out);
    return code;
}

static int run_report(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = done ? DH_EXIT_OK : report(p);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings"},
    {"format", DH_OPTION_CHOICE, "text|json", "text", "reports as they were printed, or a JSON document"},
    {"id", DH_OPTION_STRING, "ID", NULL, "only the finding whose id begins so"},
    {0}};

const struct dh_command dh_command_report = {
    .name = "report",
    .usage = "[--db=FILE] [--format=text|json] [--id=ID]",
    .summary = "show the findings of earlier runs",
    .description =
        "Shows what 'deadheat run' and 'deadheat check' have stored: both accesses with their stacks, locks and\n"
        "threads, the values, the object; below each its id, level and in how many runs it was seen. Equal findings "
        "of\n"
        "several runs and builds are one; an id survives rebuilding and unrelated edits.",
    .examples = "  deadheat report\n  deadheat report --id=3f2a\n"
                "  deadheat report --format=json | jq '.findings[].variable'\n",
    .options = options,
    .run = run_report,
};
