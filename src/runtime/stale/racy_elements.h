/* Racy elements: array elements on which races were observed, by their addresses in this run; of globals at the start,
 * of heap blocks when such a block is allocated. Layer: runtime. Any thread. The adversary serves them first where it
 * cannot serve all. */
#ifndef DH_RUNTIME_STALE_RACY_ELEMENTS_H
#define DH_RUNTIME_STALE_RACY_ELEMENTS_H

#include "event/engine.h"

enum { DH_RACY_ELEMENTS_MAX = 64 };

extern uint32_t dh_racy_elements_wanted; /* how many; 0: none */

void dh_racy_elements_start(const struct dh_engine_element *e, uint32_t n);
void dh_racy_elements_allocated(const void *at, size_t size);
void dh_racy_elements_freed(const void *at);
void dh_racy_elements_forked(void);
/* Is one of them in the same eight bytes? Only while no other thread runs (engine). */
bool dh_racy_elements_has(uintptr_t at);
/* Their addresses; returns how many. */
unsigned dh_racy_elements_list(uintptr_t out[DH_RACY_ELEMENTS_MAX]);

#endif
