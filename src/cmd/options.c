/* Option tables: parsing and the messages of misuse. */
#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "host/file.h"
#include "host/process.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dh_parsed {
    const struct dh_command *command;
    DH_VEC(struct {
        const struct dh_option *option;
        const char *value;
    })
    given;
    DH_VEC(char *) operands;
};

int dh_fail(struct dh_err *err, int exit_code)
{
    dh_notice_err(err);
    return exit_code;
}

int dh_fail_as(struct dh_err *err)
{
    return dh_fail(err, err->is_usage ? DH_EXIT_USAGE : DH_EXIT_FAILURE);
}

bool dh_read_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && isdigit((unsigned char)text[0]) && strcmp(end, units[i].unit) == 0 &&
            value * units[i].ns < 1e18) {
            *ns = (uint64_t)(value * units[i].ns);
            return *ns > 0;
        }
    return false;
}

bool dh_read_count(const char *text, uint64_t *n)
{
    char *end;
    *n = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !*end && *n > 0;
}

static const struct dh_option *find_option(const struct dh_command *c, const char *name, size_t n)
{
    for (const struct dh_option *o = c->options; o && o->name; o++)
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

static bool choice_allows(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, value, n) == 0 && (at[n] == '|' || at[n] == 0))
            return true;
    return false;
}

static bool take_option(struct dh_parsed *p, const struct dh_option *o, const char *value)
{
    const char *command = p->command->name;
    if (o->type == DH_OPTION_FLAG && value) {
        dh_notice("%s: --%s takes no value", command, o->name);
        return false;
    }
    if (o->type != DH_OPTION_FLAG && (!value || !*value)) {
        dh_notice("%s: %s%s needs a value: %s", command, o->name[0] == '-' ? "" : "--", o->name, o->value);
        return false;
    }
    if (o->type == DH_OPTION_CHOICE && !choice_allows(o->value, value)) {
        dh_notice("%s: --%s=%s: expected one of %s", command, o->name, value, o->value);
        return false;
    }
    dh_vec_reserve(&p->given, 1);
    p->given.at[p->given.n].option = o;
    p->given.at[p->given.n++].value = value;
    return true;
}

/* One argument that starts with a dash; *i moves when a value follows as its own word. */
static bool parse_one(struct dh_parsed *p, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    const struct dh_option *o;
    const char *value = NULL;
    if (dh_starts_with(arg, "--")) {
        const char *equals = strchr(arg, '=');
        o = find_option(p->command, arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg) - 2);
        value = equals ? equals + 1 : NULL;
    } else {
        o = find_option(p->command, arg, 2);
        value = arg[2] ? arg + 2 : NULL;
    }
    if (!o) {
        dh_notice("%s: unknown option %s; 'deadheat %s --help' lists them", p->command->name, arg, p->command->name);
        return false;
    }
    if (o->type != DH_OPTION_FLAG && !value && *i + 1 < argc)
        value = argv[++*i];
    return take_option(p, o, value);
}

struct dh_parsed *dh_options_parse(const struct dh_command *c, int argc, char **argv, bool *done)
{
    struct dh_parsed *p = DH_NEW(struct dh_parsed);
    p->command = c;
    *done = false;
    int i = 1;
    for (; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0) {
            const char *words[] = {"help", c->name};
            dh_command_help.run(&dh_command_help, 2, (char **)words);
            *done = true;
            return p;
        }
        if (argv[i][0] != '-' || !argv[i][1])
            dh_vec_push(&p->operands, argv[i]);
        else if (!parse_one(p, argc, argv, &i)) {
            dh_parsed_free(p);
            return NULL;
        }
    }
    for (; i < argc; i++)
        dh_vec_push(&p->operands, argv[i]);
    dh_vec_reserve(&p->operands, 1);
    p->operands.at[p->operands.n] = NULL;
    return p;
}

void dh_parsed_free(struct dh_parsed *p)
{
    if (!p)
        return;
    dh_vec_release(&p->given);
    dh_vec_release(&p->operands);
    free(p);
}

const char *dh_option_get(const struct dh_parsed *p, const char *name)
{
    const struct dh_option *o = find_option(p->command, name, strlen(name));
    for (size_t i = p->given.n; i-- > 0;)
        if (p->given.at[i].option == o)
            return p->given.at[i].value;
    return o ? o->fallback : NULL;
}

bool dh_option_given(const struct dh_parsed *p, const char *name)
{
    const struct dh_option *o = find_option(p->command, name, strlen(name));
    for (size_t i = 0; i < p->given.n; i++)
        if (p->given.at[i].option == o)
            return true;
    return false;
}

bool dh_option_number(const struct dh_parsed *p, const char *name, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *text = dh_option_get(p, name);
    char *end;
    if (!text)
        return true;
    unsigned long long n = strtoull(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end && n >= least && n <= most) {
        *out = n;
        return true;
    }
    dh_notice("%s: %s%s=%s: expected a number from %llu to %llu", p->command->name, name[0] == '-' ? "" : "--", name,
              text, (unsigned long long)least, (unsigned long long)most);
    return false;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

static bool is_path(const struct dh_option *o)
{
    static const char *const paths[] = {"FILE", "FOLDER", "POLICY", NULL};
    return o->type == DH_OPTION_STRING && is_among(o->value, paths);
}

void dh_options_repeat(const struct dh_parsed *p, const char *const *but, struct dh_argv *out)
{
    for (size_t i = 0; i < p->given.n; i++) {
        const struct dh_option *o = p->given.at[i].option;
        if (is_among(o->name, but))
            continue;
        char *value = o->type == DH_OPTION_FLAG ? NULL
                      : is_path(o)              ? dh_path_absolute(p->given.at[i].value)
                                                : dh_strdup(p->given.at[i].value);
        if (o->name[0] == '-')
            dh_argv_addf(out, "%s%s", o->name, value ? value : "");
        else
            dh_argv_addf(out, "--%s%s%s", o->name, value ? "=" : "", value ? value : "");
        free(value);
    }
}

int dh_operands(const struct dh_parsed *p, char ***operands)
{
    *operands = p->operands.at;
    return (int)p->operands.n;
}

int dh_command_on_options(const struct dh_command *c, int argc, char **argv, int (*fn)(const struct dh_parsed *p))
{
    bool done;
    struct dh_parsed *p = dh_options_parse(c, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = done ? DH_EXIT_OK : fn(p);
    dh_parsed_free(p);
    return code;
}

int dh_command_on_file(const struct dh_command *c, int argc, char **argv,
                       int (*fn)(const struct dh_parsed *p, const char *path))
{
    bool done;
    struct dh_parsed *p = dh_options_parse(c, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = DH_EXIT_OK;
    if (!done && p->operands.n != 1) {
        dh_notice("%s: name one program or library; 'deadheat %s --help' tells more", c->name, c->name);
        code = DH_EXIT_USAGE;
    } else if (!done)
        code = fn(p, p->operands.at[0]);
    dh_parsed_free(p);
    return code;
}
