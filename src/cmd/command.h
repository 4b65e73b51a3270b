/* Subcommands: one file, one row, one option table each; --help and the man page come from the same row.
 * Layer: cmd. Exit codes: 0 done, 1 findings, 2 usage or bad input, 3 our own failure. */
#ifndef DH_CMD_COMMAND_H
#define DH_CMD_COMMAND_H

#include "host/err.h"
#include "host/notice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_EXIT_OK = 0, DH_EXIT_FINDINGS = 1, DH_EXIT_USAGE = 2, DH_EXIT_FAILURE = 3 };

enum dh_option_type { DH_OPTION_FLAG, DH_OPTION_STRING, DH_OPTION_CHOICE };

struct dh_option {
    const char *name; /* "format" for --format=..., "-o" style one-letter names with the dash */
    enum dh_option_type type;
    const char *value;    /* what stands for the value in help: "FILE"; for a choice "text|json" */
    const char *fallback; /* default, or NULL */
    const char *help;
};

struct dh_command {
    const char *name;
    const char *usage;               /* after the name: "[OPTION...] PROG" */
    const char *summary;             /* one line */
    const char *description;         /* paragraphs separated by blank lines, for man page and --help */
    const char *examples;            /* lines for the man page, or NULL */
    const struct dh_option *options; /* ends with name == NULL; NULL when the command parses itself */
    /* argv[0] is the command's own name; parsed options are asked for with dh_option_get. */
    int (*run)(const struct dh_command *self, int argc, char **argv);
};

struct dh_parsed; /* option values and operands of one call */

/* Prints one line and answers NULL on misuse; --help prints and sets *done. */
struct dh_parsed *dh_options_parse(const struct dh_command *c, int argc, char **argv, bool *done);
void dh_parsed_free(struct dh_parsed *p);
const char *dh_option_get(const struct dh_parsed *p, const char *name); /* value, default, or NULL */
bool dh_option_given(const struct dh_parsed *p, const char *name);
/* The number that the option has, if it has a value; another value prints a line and answers false. */
bool dh_option_number(const struct dh_parsed *p, const char *name, uint64_t least, uint64_t most, uint64_t *out);
/* The options as they were given, without those that `but` names (ends with NULL), files made absolute. */
struct dh_argv;
void dh_options_repeat(const struct dh_parsed *p, const char *const *but, struct dh_argv *out);
/* Operands, also those after "--"; ends with NULL, as exec wants it. */
int dh_operands(const struct dh_parsed *p, char ***operands);

/* For commands that look at their operands themselves: parses, then calls fn. */
int dh_command_on_options(const struct dh_command *c, int argc, char **argv, int (*fn)(const struct dh_parsed *p));

/* For commands that take options and exactly one program or library: parses, then calls fn. */
int dh_command_on_file(const struct dh_command *c, int argc, char **argv,
                       int (*fn)(const struct dh_parsed *p, const char *path));

int dh_fail(struct dh_err *err, int exit_code); /* prints err, releases it, answers exit_code */
/* The same with the exit code that the error asks for: usage or failure. */
int dh_fail_as(struct dh_err *err);
/* "10s", "500ms", "5m"; false: something else. */
bool dh_read_time(const char *text, uint64_t *ns);
/* Schedules or runs: at least one. */
bool dh_read_count(const char *text, uint64_t *n);
/* Whether the file of --suppressions can be read and is well-formed; prints a line otherwise. NULL is no file. */
bool dh_suppressions_option_check(const char *command, const char *path);

extern const struct dh_command dh_command_cc, dh_command_cxx, dh_command_check, dh_command_scan, dh_command_run,
    dh_command_prove, dh_command_replay, dh_command_classify, dh_command_heal, dh_command_record, dh_command_analyze,
    dh_command_trace, dh_command_report, dh_command_sites, dh_command_info, dh_command_help, dh_command_version;
/* Entries that other programs call, not people: the linker of clang, the runtime at program start. */
int dh_main_ld(int argc, char **argv);
int dh_main_exec_variant(int argc, char **argv);
int dh_main_print_finding(int argc, char **argv);
/* And one for tests and benchmarks. */
int dh_main_free_run(int argc, char **argv);
const struct dh_command *const *dh_commands(size_t *n);
const struct dh_command *dh_command_find(const char *name);

#endif
