/* deadheat sites: every numbered place of a program. */
#include "cmd/command.h"
#include "cmd/sites_print.h"
#include "driver/container.h"
#include "event/site.h"

#include <string.h>

static int print_sites(const struct dh_parsed *p, const char *path)
{
    bool json = strcmp(dh_option_get(p, "format"), "json") == 0;
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
        dh_complain("%s: %s; build it again", path, why);
        code = DH_EXIT_FAILURE;
    } else
        (json ? dh_sites_print_json : dh_sites_print_text)(stdout, &table);
    dh_bytes_release(&bytes);
    dh_container_release(&c);
    return code;
}

static int run_sites(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_file(self, argc, argv, print_sites);
}

static const struct dh_option options[] = {
    {"format", DH_OPTION_CHOICE, "text|json", "text", "one line per site, or a JSON document"}, {0}};

const struct dh_command dh_command_sites = {
    .name = "sites",
    .usage = "[--format=text|json] PROG",
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
