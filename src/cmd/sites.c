/* deadheat sites: every numbered place of a program. */
#include "analysis/race_free_proofs.h"
#include "cmd/command.h"
#include "cmd/sites_print.h"
#include "event/scope_table.h"
#include "event/site.h"
#include "image/container.h"

#include <string.h>

static int print_scopes(const char *path, const struct dh_container *c, const struct dh_site_table *sites)
{
    struct dh_err err = {0};
    struct dh_bytes bytes;
    struct dh_scope_table scopes;
    const char *why;
    int code = DH_EXIT_OK;
    if (!dh_container_read(c, DH_PART_SCOPES, &bytes, &err)) {
        dh_err_while(&err, "reading the scopes of %s", path);
        return dh_fail(&err, DH_EXIT_FAILURE);
    }
    if (dh_scope_table_read(&scopes, bytes.at, bytes.n, &why))
        dh_scopes_print_text(stdout, &scopes, sites);
    else {
        dh_notice("%s: %s; build it again", path, why);
        code = DH_EXIT_FAILURE;
    }
    dh_bytes_release(&bytes);
    return code;
}

static bool read_trust(const char *list, uint64_t *also)
{
    for (const char *at = list; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        uint64_t bit = dh_argument_bit(at, strcspn(at, ","));
        if (!bit) {
            dh_notice("sites: --trust: no argument '%.*s'; src/analysis/arguments.def has them", (int)strcspn(at, ","),
                      at);
            return false;
        }
        *also |= bit;
    }
    return true;
}

/* As the analysis sees it now, whatever the program was built with. */
static int print_safe(const struct dh_parsed *p, const char *path, const struct dh_container *c,
                      const struct dh_site_table *t)
{
    struct dh_err err = {0};
    struct dh_bytes part;
    struct dh_sparse_proofs facts;
    struct dh_str copies = {0};
    uint64_t also = 0;
    if (!read_trust(dh_option_get(p, "trust"), &also))
        return DH_EXIT_USAGE;
    if (!dh_sparse_analyse_program(c, t, also, &part, &copies, &err)) {
        dh_err_while(&err, "reading %s", path);
        return dh_fail(&err, DH_EXIT_FAILURE);
    }
    if (dh_sparse_read(&part, &facts)) {
        fputs(copies.at ? copies.at : "", stdout);
        dh_sites_print_safe(stdout, t, &facts);
    }
    dh_str_release(&copies);
    dh_bytes_release(&part);
    return DH_EXIT_OK;
}

typedef void print_function(FILE *out, const struct dh_site_table *t);

static print_function *printer_of(const char *format)
{
    static const struct {
        const char *format;
        print_function *print;
    } printers[] = {{"text", dh_sites_print_text}, {"json", dh_sites_print_json}};
    size_t i = 0;
    while (strcmp(printers[i].format, format) != 0) /* the table of options has no others */
        i++;
    return printers[i].print;
}

static int print_sites(const struct dh_parsed *p, const char *path)
{
    struct dh_err err = {0};
    struct dh_container c;
    struct dh_bytes bytes;
    struct dh_site_table table;
    const char *why;
    if (!dh_container_open(&c, path, &err))
        return dh_fail(&err, DH_EXIT_USAGE);
    int code = DH_EXIT_OK;
    if (!dh_container_read(&c, DH_PART_SITES, &bytes, &err)) {
        dh_err_while(&err, "reading the sites of %s", path);
        code = dh_fail(&err, DH_EXIT_FAILURE);
    } else if (!dh_site_table_read(&table, bytes.at, bytes.n, &why)) {
        dh_notice("%s: %s; build it again", path, why);
        code = DH_EXIT_FAILURE;
    } else if (dh_option_given(p, "scopes"))
        code = print_scopes(path, &c, &table);
    else if (dh_option_given(p, "safe"))
        code = print_safe(p, path, &c, &table);
    else
        printer_of(dh_option_get(p, "format"))(stdout, &table);
    dh_bytes_release(&bytes);
    dh_container_release(&c);
    return code;
}

static int run_sites(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_file(self, argc, argv, print_sites);
}

static const struct dh_option options[] = {
    {"format", DH_OPTION_CHOICE, "text|json", "text", "one line per site, or a JSON document"},
    {"safe", DH_OPTION_FLAG, NULL, NULL,
     "instead: every plain access, whether it is proven that it takes part in no race (safe), that only one thread "
     "gets "
     "at what it accesses (private), or neither (watched)"},
    {"trust", DH_OPTION_STRING, "ARGUMENT,...", NULL,
     "with --safe: also believe these arguments, which prove nothing (for tests)"},
    {"scopes", DH_OPTION_FLAG, NULL, NULL, "instead: what every critical section may access, on any path"},
    {0}};

const struct dh_command dh_command_sites = {
    .name = "sites",
    .usage = "[--format=text|json] [--scopes|--safe] PROG",
    .summary = "list every access, lock, allocation and thread creation by name",
    .description =
        "Lists the sites of a program or library built with 'deadheat cc': place, operation, size, type, variable\n"
        "and field by source name, and the stable name that findings, policies and witnesses use.\n"
        "The program is not run.",
    .examples =
        "  deadheat sites bank\n  deadheat sites --format=json bank | jq '.sites[] | select(.op == \"lock\")'\n",
    .options = options,
    .run = run_sites,
};
