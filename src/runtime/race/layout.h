/* Where the parts of the process lie, and whether the direct map tells them apart. Layer: runtime. Executable, heap,
 * mappings and stack may lie so (randomised far, or by a linker's order) that two of them fall on the same cells, or
 * one on the tables themselves: then the program is started again without randomisation, as other sanitizers do; its
 * children are randomised as before. Written at the start by the one thread there is. */
#ifndef DH_RUNTIME_RACE_LAYOUT_H
#define DH_RUNTIME_RACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_layout_growth {
    DH_GROWTH_GENEROUS, /* as much as any program is known to grow */
    DH_GROWTH_MINIMAL   /* what is left when there is no choice */
};
bool dh_layout_fits(enum dh_layout_growth room);
/* Returns when that cannot be done, or was done already. */
void dh_layout_restart(void);
/* The program maps memory at an address of its own choice: false when that is where our tables are. */
bool dh_layout_may_map(const void *at, size_t size);
/* It has: says once when cells are shared. */
void dh_layout_mapped(const void *at, size_t size);

#endif
