/* The address space layout of the process, and whether the shadow's direct map keeps its parts apart. Layer: runtime.
 * Executable, heap, mappings and stack may lie (by ASLR or a linker script) so that two share cells, or one overlaps
 * the tables: then the program is executed again without ASLR, as other sanitizers do; its children are randomised as
 * before. Written at the start, by the only thread. */
#ifndef DH_RUNTIME_RACE_LAYOUT_H
#define DH_RUNTIME_RACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far heap, mappings and stack can still grow. */
enum dh_layout_growth {
    DH_GROWTH_GENEROUS, /* as much as large programs grow */
    DH_GROWTH_MINIMAL   /* the least that is useful */
};
bool dh_layout_fits(enum dh_layout_growth room);
/* Executes the program again; returns if that is impossible or was done before. */
void dh_layout_restart(void);
/* The program is about to map memory at an address of its choice: false if the tables are there. */
bool dh_layout_may_map(const void *at, size_t size);
/* After it did so: warns once if cells are shared. */
void dh_layout_mapped(const void *at, size_t size);

#endif
