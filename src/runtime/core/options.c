#include "runtime/core/options.h"

#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <limits.h>
#include <stddef.h>

enum type { FLAG, NUMBER, TEXT };

struct row {
    const char *name;
    enum type type;
    size_t offset;
    const char *fallback;
    const char *help;
};

#define ROW(name, type, fallback, help) {#name, type, offsetof(struct dh_options, name), fallback, help}
static const struct row table[] = {
    ROW(help, FLAG, "0", "print these options and go on"),
    ROW(verbosity, NUMBER, "0", "1: say what was started and, at the end, what was counted"),
    ROW(log_path, TEXT, "stderr", "where messages go: stderr, stdout, or the file PATH.PID"),
    ROW(detect, TEXT, "race", "detectors to run with: race, deadlock, atomrace, consistency, none"),
    ROW(hang_timeout, NUMBER, "0",
        "deadlock: end the program when a lock was waited for for so many seconds; 0: never"),
    ROW(selection, TEXT, "", "file of the sections that atomrace watches ('deadheat run' sets this)"),
    ROW(noise, TEXT, "", "delays to make: random,FREQ,STRENGTH;var:NAME,...;loc:FILE:LINE,...;sync,...;auto:N%"),
    ROW(seed, NUMBER, "1", "where the streams of chance begin"),
    ROW(pairs, FLAG, "1", "atomrace: suspect what comes between two accesses of one variable in one function"),
    ROW(train, FLAG, "0", "atomrace: of all such pairs, also those that lie in different critical sections"),
    ROW(history, NUMBER, "0",
        "how far back a thread's accesses are remembered, in parts of 4096; 0: by the number of threads"),
    ROW(clock_limit, NUMBER, "0", "for tests: releases of a thread before it takes a new slot; 0: as many as fit"),
    ROW(exitcode, NUMBER, "66", "exit code of a program in which something was found; 0: its own"),
    ROW(atexit_sleep_ms, NUMBER, "0", "at exit, let other threads that compute or sleep go on, for at most so long"),
    ROW(halt_on_error, FLAG, "0", "end the program after the first finding"),
    ROW(report_limit, NUMBER, "1000", "report no more findings of one process than this; 0: all"),
    ROW(print, FLAG, "1", "say what was found as it is found; 0: only count it and keep it in the log"),
    ROW(log, TEXT, "", "keep findings for the tool in the file PATH.PID.dhf ('deadheat run' sets this)"),
    ROW(suppressions, TEXT, "", "file of findings not to be told or counted: lines race:PATTERN, mutex:PATTERN, ..."),
    ROW(print_suppressions, FLAG, "0", "at exit, say how many findings each suppression kept quiet"),
    ROW(heal_patience_ms, NUMBER, "2000", "how long a healing lock is waited for while nothing happens in it"),
    ROW(heal_monitor, FLAG, "0", "at exit, say how often sections were entered, waited for, and kept others out"),
    ROW(heal_auto, TEXT, "", "heal only what threads met in, and add that to this file ('deadheat run' sets this)"),
    ROW(heal_failures, TEXT, "", "add groups whose lock is given up to this file ('deadheat run' sets this)"),
    ROW(threads_file, TEXT, "", "at exit, write the program's threads to this file (a forked child: PATH.PID)"),
    ROW(thread_count, TEXT, "", "count created threads in this file (event/thread_count.h; the tool sets this)"),
    ROW(counts_file, TEXT, "",
        "at exit, write what a program derived with --plan=...,count-events or ...,count-checks counted (PATH.PID)"),
    ROW(stream, TEXT, "", "record what happens for the tool that reads in this folder ('deadheat run' sets this)"),
    ROW(stream_reader, NUMBER, "0", "the process that reads it"),
    ROW(stream_ahead, NUMBER, "1024", "how far the program may be ahead of it, in blocks of 32 KB"),
};
#define ROWS (sizeof table / sizeof *table)
#define NAME_MAX_LENGTH 40

struct dh_options dh_options = {.log_path = NULL};

static bool read_number(const char *text, int *out)
{
    bool negative = *text == '-';
    long value = 0;
    text += negative;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (*text - '0');
        if (value > INT_MAX)
            return false;
    }
    *out = (int)(negative ? -value : value);
    return true;
}

static bool read_flag(const char *text, bool *out)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (dh_text_equal(text, words[i])) {
            *out = i & 1;
            return true;
        }
    return false;
}

/* `value` must live as long as the process. */
static void set(const struct row *row, const char *value)
{
    void *field = (char *)&dh_options + row->offset;
    if (row->type == TEXT)
        *(const char **)field = *value ? value : NULL;
    else if (row->type == FLAG && !read_flag(value, field))
        dh_print_stderr("deadheat: DEADHEAT_OPTIONS: %s: '%s' is neither 0 nor 1\n", row->name, value);
    else if (row->type == NUMBER && !read_number(value, field))
        dh_print_stderr("deadheat: DEADHEAT_OPTIONS: %s: '%s' is not a number\n", row->name, value);
}

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (dh_text_equal(table[i].name, name))
            return &table[i];
    return NULL;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance in which two letters changing places count once. Names longer than the rows are cut. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_MAX_LENGTH + 1];
    unsigned na = (unsigned)dh_text_length(a), nb = (unsigned)least((unsigned)dh_text_length(b), NAME_MAX_LENGTH);
    for (unsigned j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/* Near: a third of the name may differ, or one is the beginning of the other. */
static bool near(const char *given, const char *name)
{
    unsigned n = (unsigned)dh_text_length(name);
    return distance(given, name) <= (n < 6 ? 1 : n / 3) || (given[0] && given[1] && dh_text_after(name, given));
}

static void complain_unknown(const char *given)
{
    struct dh_sink s;
    dh_sink_start(&s, 2);
    dh_sink_printf(&s, "deadheat: DEADHEAT_OPTIONS: no option '%s'; ", given);
    const char *before = "did you mean ";
    for (size_t i = 0; i < ROWS; i++)
        if (near(given, table[i].name)) {
            dh_sink_printf(&s, "%s'%s'", before, table[i].name);
            before = " or ";
        }
    dh_sink_printf(&s, before[0] == 'd' ? "help=1 lists them\n" : "?\n");
    dh_sink_flush(&s);
}

static void print_help(void)
{
    static const char *const types[] = {"0 or 1", "number", "text"};
    dh_print("deadheat: DEADHEAT_OPTIONS=key=value:key=value takes\n");
    for (size_t i = 0; i < ROWS; i++)
        dh_print("  %s (%s, default %s)\n        %s\n", table[i].name, types[table[i].type],
                 table[i].fallback[0] ? table[i].fallback : "none", table[i].help);
}

static bool separates(char c)
{
    return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* Ends the word at `*at` in place, quotes removed; `*at` moves behind it. */
static char *next_word(char **at)
{
    while (separates(**at))
        ++*at;
    char *word = *at, *to = word, quote = 0;
    for (; **at && (quote || !separates(**at)); ++*at) {
        if (quote ? **at == quote : (**at == '\'' || **at == '"'))
            quote = quote ? 0 : **at;
        else
            *to++ = **at;
    }
    if (**at)
        ++*at;
    *to = 0;
    return word;
}

static void read_word(char *word)
{
    char *value = word;
    while (*value && *value != '=')
        value++;
    if (!*value) {
        dh_print_stderr("deadheat: DEADHEAT_OPTIONS: '%s' has no value; write key=value\n", word);
        return;
    }
    *value++ = 0;
    const struct row *row = find(word);
    if (row)
        set(row, value);
    else
        complain_unknown(word);
}

void dh_options_read(const char *text)
{
    for (size_t i = 0; i < ROWS; i++)
        set(&table[i], table[i].fallback);
    char *copy = text ? (char *)dh_alloc_text(text) : NULL;
    while (copy && *copy) {
        char *word = next_word(&copy);
        if (*word)
            read_word(word);
    }
    if (dh_options.help)
        print_help();
}

bool dh_options_detects(const char *name)
{
    for (const char *at = dh_options.detect; at && *at;) {
        const char *behind = dh_text_after(at, name);
        if (behind && (!*behind || *behind == ','))
            return true;
        while (*at && *at != ',')
            at++;
        at += *at == ',';
    }
    return false;
}
