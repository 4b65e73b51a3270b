/* deadheat help: text for the terminal and roff for man, both from the command table. */
#include "cmd/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void print_option_name(const struct dh_option *o)
{
    const char *dashes = o->name[0] == '-' ? "" : "--";
    if (o->type == DH_OPTION_FLAG)
        printf("%s%s", dashes, o->name);
    else
        printf("%s%s%s%s", dashes, o->name, *dashes ? "=" : " ", o->value);
}

static void text_options(const struct dh_command *c)
{
    if (!c->options || !c->options->name)
        return;
    printf("\nOptions:\n");
    for (const struct dh_option *o = c->options; o->name; o++) {
        printf("  ");
        print_option_name(o);
        printf("\n        %s", o->help);
        if (o->fallback)
            printf(" (default: %s)", o->fallback);
        printf("\n");
    }
}

static void text_command(const struct dh_command *c)
{
    printf("usage: deadheat %s %s\n\n%s\n", c->name, c->usage, c->description);
    text_options(c);
    if (c->examples)
        printf("\nExamples:\n%s", c->examples);
}

static void text_overview(void)
{
    size_t n;
    const struct dh_command *const *all = dh_commands(&n);
    printf("usage: deadheat COMMAND ...\n\n"
           "Finds, proves, classifies and heals concurrency bugs in C and C++ programs.\n\n");
    for (size_t i = 0; i < n; i++)
        printf("  %-10s %s\n", all[i]->name, all[i]->summary);
    printf("\n'deadheat help COMMAND' tells more.\n");
}

/* A leading dot or quote would be a roff request; backslashes and dashes have meanings of their own. */
static void roff_text(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            printf("\\&");
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else if (*text == '\n' && text[1] == '\n') {
            printf("\n.PP\n");
            text++;
        } else
            putchar(*text);
        line_start = *text == '\n';
    }
    putchar('\n');
}

static void roff_options(const struct dh_command *c)
{
    if (!c->options || !c->options->name)
        return;
    printf(".SH OPTIONS\n");
    for (const struct dh_option *o = c->options; o->name; o++) {
        printf(".TP\n.B ");
        print_option_name(o);
        printf("\n");
        roff_text(o->help);
        if (o->fallback)
            printf("(default: %s)\n", o->fallback);
    }
}

static void roff_command(const struct dh_command *c)
{
    char upper[64] = "";
    for (size_t i = 0; c->name[i] && i < sizeof upper - 1; i++)
        upper[i] = (char)toupper((unsigned char)c->name[i]);
    printf(".TH DEADHEAT-%s 1 \"\" \"deadheat %s\" \"Deadheat manual\"\n", upper, DH_VERSION);
    printf(".SH NAME\ndeadheat-%s \\- %s\n.SH SYNOPSIS\n.B deadheat %s\n%s\n.SH DESCRIPTION\n", c->name, c->summary,
           c->name, c->usage);
    roff_text(c->description);
    roff_options(c);
    if (c->examples) {
        printf(".SH EXAMPLES\n.nf\n");
        roff_text(c->examples);
        printf(".fi\n");
    }
    printf(".SH EXIT STATUS\n0 done; 1 findings; 2 usage or bad input; 3 failure of deadheat itself.\n"
           "Commands that run a program end with the program's own exit status.\n");
}

static void roff_overview(void)
{
    size_t n;
    const struct dh_command *const *all = dh_commands(&n);
    printf(".TH DEADHEAT 1 \"\" \"deadheat %s\" \"Deadheat manual\"\n.SH NAME\n"
           "deadheat \\- find, prove, classify and heal concurrency bugs in C and C++ programs\n"
           ".SH SYNOPSIS\n.B deadheat\nCOMMAND ...\n.SH COMMANDS\n",
           DH_VERSION);
    for (size_t i = 0; i < n; i++)
        printf(".TP\n.B %s\n%s; see deadheat-%s(1)\n", all[i]->name, all[i]->summary, all[i]->name);
}

static int run_help(const struct dh_command *self, int argc, char **argv)
{
    (void)self;
    bool man = argc > 1 && strcmp(argv[1], "--man") == 0;
    const char *name = argc > 1 + man ? argv[1 + man] : NULL;
    const struct dh_command *c = name ? dh_command_find(name) : NULL;
    if (name && !c) {
        dh_notice("no command '%s'; 'deadheat help' lists them", name);
        return DH_EXIT_USAGE;
    }
    if (c)
        (man ? roff_command : text_command)(c);
    else
        (man ? roff_overview : text_overview)();
    return DH_EXIT_OK;
}

const struct dh_command dh_command_help = {
    .name = "help",
    .usage = "[--man] [COMMAND]",
    .summary = "what the commands do",
    .description = "Tells what a command does and which options it takes; with --man as the source of its man page.",
    .run = run_help,
};
