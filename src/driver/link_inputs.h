/* The inputs that a native link used: objects with bitcode, objects without, shared libraries. Layer: driver. Read from
 * ld.lld --trace, so that archives contribute exactly the members that were linked. */
#ifndef DH_DRIVER_LINK_INPUTS_H
#define DH_DRIVER_LINK_INPUTS_H

#include "driver/link_line.h"
#include "host/file.h"

struct dh_link_input {
    char *name;            /* "lib.a(part.o)" or a path, for people */
    struct dh_bytes bytes; /* the object; owned */
    char level;            /* of its bitcode; 0 = native only */
    size_t word;           /* index of the link line's word it came from */
    bool lazy;             /* one of several archive members of that name: which one was used is unknown */
    bool system;           /* from the toolchain or a system folder, without bitcode: kept by path */
};

struct dh_link_inputs {
    DH_VEC(struct dh_link_input) objects;
};

/* `trace` is the output of ld.lld --trace; `native` the linked file, by which members of equal names are told apart. */
bool dh_link_inputs_collect(struct dh_link_inputs *in, const struct dh_link_line *line, const char *trace,
                            const struct dh_bytes *native, struct dh_err *err);
void dh_link_inputs_release(struct dh_link_inputs *in);

/* Calls fn for every bitcode stream of an object. */
bool dh_link_input_each_bitcode(const struct dh_link_input *in, char fallback_level,
                                bool (*fn)(void *arg, const uint8_t *bytes, size_t n, char level, struct dh_err *err),
                                void *arg, struct dh_err *err);

#endif
