/* DEADHEAT_OPTIONS="key=value:key=value". Layer: runtime. One table in options.c gives name, type, default and
 * help. Read once before constructors, constant afterwards. */
#ifndef DH_RUNTIME_OPTIONS_H
#define DH_RUNTIME_OPTIONS_H

#include <stdbool.h>

struct dh_options {
    bool help;
    int verbosity;
    const char *log_path;
    const char *threads_file; /* NULL = none */
};

extern struct dh_options dh_options;

/* Sets the defaults, then what `text` says (NULL = nothing). Mistakes are told in one line each, and skipped. */
void dh_options_read(const char *text);

#endif
