/* Symbolizer: source locations and variables of addresses in a file, inlined calls included. Layer: host (elfutils).
 * Keeps every module open; one symbolizer per thread. Results are owned by the caller. */
#ifndef DH_HOST_SYMBOLIZE_H
#define DH_HOST_SYMBOLIZE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_source_frame {
    char *function;  /* source name with its scopes ("Account::deposit"); a bare symbol when only that is known */
    char *file;      /* as the debug information names it, or NULL: then line and column are 0 */
    char *directory; /* where it was compiled, or NULL */
    unsigned line, column;
};

struct dh_source_frames {
    DH_VEC(struct dh_source_frame) frames; /* innermost first; the last is the function that holds the code */
};

struct dh_symbolizer;
struct dh_symbolizer *dh_symbolizer_new(void);
void dh_symbolizer_free(struct dh_symbolizer *s);

/* `offset` is an address as the file has it, of an instruction: for a return address, one less. Adds nothing and
 * returns false when neither debug information nor a symbol covers it. */
bool dh_symbolize(struct dh_symbolizer *s, const char *module, uint64_t offset, struct dh_source_frames *out);
void dh_source_frames_release(struct dh_source_frames *f);

/* A variable that lies at an address of the file. */
struct dh_source_variable {
    char *name;     /* with the part that is meant: "table[3].lock" */
    char *variable; /* as a whole: "table" */
    uint64_t size;  /* of it; 0 = not known */
    char *file;     /* where it is declared, or NULL */
    char *directory;
    unsigned line;
};
bool dh_symbolize_variable_at(struct dh_symbolizer *s, const char *module, uint64_t offset,
                              struct dh_source_variable *out);
void dh_source_variable_release(struct dh_source_variable *d);
/* Where the global of that name begins, as the symbols have it, and how large it is. */
bool dh_symbolize_find_variable(struct dh_symbolizer *s, const char *module, const char *name, uint64_t *at,
                                uint64_t *size);
/* Only where the variable around the address begins and how large it is, by the symbols alone. */
bool dh_symbolize_variable_extent(struct dh_symbolizer *s, const char *module, uint64_t offset, uint64_t *at,
                                  uint64_t *size);

#endif
