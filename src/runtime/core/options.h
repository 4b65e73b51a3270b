/* DEADHEAT_OPTIONS="key=value:key=value". Layer: runtime. One table in options.c gives name, type, default and
 * help. Read once before constructors, constant afterwards. */
#ifndef DH_RUNTIME_CORE_OPTIONS_H
#define DH_RUNTIME_CORE_OPTIONS_H

#include <stdbool.h>

struct dh_options {
    bool help;
    int verbosity;
    const char *log_path;
    const char *detect;
    int hang_timeout;      /* seconds, 0 = never */
    int history;           /* parts of 4096 words for each thread; 0 = as many threads there are */
    int clock_limit;       /* 0 = as far as the epochs go */
    const char *selection; /* NULL = none */
    const char *noise;     /* NULL = none */
    int seed;
    bool pairs, train;
    int exitcode;
    int atexit_sleep_ms;
    bool halt_on_error;
    int report_limit;
    bool print;
    const char *log;          /* NULL = none */
    const char *suppressions; /* NULL = none */
    bool print_suppressions;
    int heal_patience_ms;
    bool heal_monitor;
    const char *heal_auto;     /* NULL = what the policy heals is healed from the beginning */
    const char *heal_failures; /* NULL = none */
    const char *threads_file;  /* NULL = none */
    const char *counts_file;   /* NULL = none */
    const char *thread_count;  /* NULL = none */
    const char *stream;        /* NULL = none */
    int stream_reader;
    int stream_ahead;
};

extern struct dh_options dh_options;

/* Sets the defaults, then what `text` says (NULL = nothing). Mistakes are reported in one line each, and skipped. */
void dh_options_read(const char *text);
/* Whether the list of detectors has this one. */
bool dh_options_detects(const char *name);

/* Whether the list of detectors has this one. */
bool dh_options_detects(const char *name);

#endif
