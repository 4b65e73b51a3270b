/* Library functions that are sites, and the roles of their arguments. Layer: ir. The table is generated from
 * data/models at build time; nothing is read at run time. */
#ifndef DH_IR_KNOWN_FUNCTIONS_H
#define DH_IR_KNOWN_FUNCTIONS_H

#include <stdint.h>

struct dh_known_function {
    const char *name; /* as linked */
    uint8_t op;       /* dh_op */
    int8_t address;   /* argument that points to the object, -1 = none */
    int8_t size;      /* argument that gives the size in bytes, -1 = none */
    int8_t start;     /* argument that is run as a thread, -1 = none */
};

/* NULL = nothing known. */
const struct dh_known_function *dh_known_function(const char *name);

#endif
