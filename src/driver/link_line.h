/* The linker's command line as clang writes it, word by word in order, because order matters to linkers. Layer: driver.
 * Owns copies. */
#ifndef DH_DRIVER_LINK_LINE_H
#define DH_DRIVER_LINK_LINE_H

#include "base/vec.h"
#include "host/err.h"
#include "host/process.h"

#include <stdbool.h>

enum dh_link_word_kind {
    DH_LINK_WORD_OPTION,      /* stays as it is */
    DH_LINK_WORD_FILE,        /* an input named by path */
    DH_LINK_WORD_LIBRARY,     /* -lNAME; text = NAME */
    DH_LINK_WORD_SEARCH_PATH, /* -L FOLDER; text = FOLDER */
    DH_LINK_WORD_FILE_OPTION  /* an option that names a file the linker reads; text = the file, option = its prefix */
};

struct dh_link_word {
    enum dh_link_word_kind kind;
    char *text;
    char *option;        /* DH_LINK_WORD_FILE_OPTION only */
    bool prefers_static; /* of -l: after -Bstatic */
};

enum dh_link_output { DH_LINK_EXECUTABLE, DH_LINK_PIE, DH_LINK_SHARED, DH_LINK_RELOCATABLE };

struct dh_link_line {
    DH_VEC(struct dh_link_word) words; /* without -o */
    struct dh_argv kept_symbols;       /* -u, -e, --init, --fini, --defsym right sides, export lists */
    struct dh_argv wrapped;            /* --wrap */
    char *output;                      /* "a.out" when not given */
    char *sysroot;                     /* or NULL */
    enum dh_link_output kind;
    bool export_dynamic, is_static, traces, has_libc;
    bool asks_only; /* --version, --help, -v without inputs */
    char level;     /* for sources compiled on the link line; set by the caller */
};

bool dh_link_line_read(struct dh_link_line *l, int argc, char **argv, struct dh_err *err);
void dh_link_line_release(struct dh_link_line *l);
/* Adds the words as a command line again. */
void dh_link_word_write(const struct dh_link_word *w, struct dh_argv *out);
/* The file that -lNAME resolves to at this place of the line, or NULL. Owned by the caller. */
char *dh_link_line_find_library(const struct dh_link_line *l, const struct dh_link_word *w);

#endif
