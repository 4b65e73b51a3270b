/* Command lines of deadheat itself: every command with an option table. */
#include "cmd/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST = 64 };

static const struct dh_option options[] = {
    {"detect", DH_OPTION_STRING, "LIST", "race", "a text"},
    {"format", DH_OPTION_CHOICE, "text|json", "text", "a choice"},
    {"threads", DH_OPTION_FLAG, NULL, NULL, "a flag"},
    {"-o", DH_OPTION_STRING, "FILE", NULL, "one letter"},
    {0},
};

static int show_help(const struct dh_command *self, int argc, char **argv)
{
    return (void)self, (void)argc, (void)argv, 0;
}
const struct dh_command dh_command_help = {.name = "help", .run = show_help};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    static const struct dh_command command = {.name = "try", .options = options};
    char *words[MOST + 1] = {"try"}, *text = malloc(n + 1), **operands;
    int argc = 1;
    bool done;
    memcpy(text, input, n);
    text[n] = 0;
    /* Words end with a NUL, as in a real one, or with a line. */
    for (size_t at = 0; at < n && argc < MOST; at += strlen(text + at) + 1) {
        text[at + strcspn(text + at, "\n")] = 0;
        words[argc++] = text + at;
    }
    struct dh_parsed *p = dh_options_parse(&command, argc, words, &done);
    volatile size_t sum = 0;
    for (const struct dh_option *o = options; p && !done && o->name; o++) {
        const char *value = dh_option_get(p, o->name);
        sum += (value ? strlen(value) : 0) + dh_option_given(p, o->name);
    }
    for (int i = p && !done ? dh_operands(p, &operands) : 0; i > 0; i--)
        sum += strlen(operands[i - 1]);
    dh_parsed_free(p);
    free(text);
    return 0;
}
