/* deadheat: finds the command and runs it. */
#include "base/str.h"
#include "cmd/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct dh_command *const commands[] = {
    &dh_command_cc,      &dh_command_cxx,     &dh_command_check,    &dh_command_scan,  &dh_command_run,
    &dh_command_prove,   &dh_command_replay,  &dh_command_classify, &dh_command_heal,  &dh_command_record,
    &dh_command_analyze, &dh_command_trace,   &dh_command_report,   &dh_command_sites, &dh_command_info,
    &dh_command_help,    &dh_command_version,
};

const struct dh_command *const *dh_commands(size_t *n)
{
    *n = sizeof commands / sizeof *commands;
    return commands;
}

const struct dh_command *dh_command_find(const char *name)
{
    size_t n;
    const struct dh_command *const *all = dh_commands(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

static void print_notice(const char *line)
{
    fprintf(stderr, "deadheat: %s\n", line);
}

int main(int argc, char **argv)
{
    const struct dh_command *c = NULL;
    const char *called = dh_basename(argv[0]);
    dh_notices_print_by(print_notice);
    if (strcmp(called, "deadheat-ld") == 0)
        return dh_main_ld(argc, argv);
    /* deadheat-cc and deadheat-c++: one word, for tools that cannot take two as a compiler. */
    if (strcmp(called, "deadheat-cc") == 0)
        return dh_command_cc.run(&dh_command_cc, argc, argv);
    if (strcmp(called, "deadheat-c++") == 0)
        return dh_command_cxx.run(&dh_command_cxx, argc, argv);
    if (argc > 1 && strcmp(argv[1], "exec-variant") == 0)
        return dh_main_exec_variant(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "print-finding") == 0)
        return dh_main_print_finding(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "free-run") == 0)
        return dh_main_free_run(argc - 1, argv + 1);
    if (argc < 2)
        return dh_command_help.run(&dh_command_help, 1, argv), DH_EXIT_USAGE;
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    c = dh_command_find(name);
    if (!c) {
        dh_notice("no command '%s'; 'deadheat help' lists them", name);
        return DH_EXIT_USAGE;
    }
    int code = c->run(c, argc - 1, argv + 1);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    dh_notice("%s: cannot write the output: %s", name, strerror(errno));
    return code ? code : DH_EXIT_FAILURE;
}
