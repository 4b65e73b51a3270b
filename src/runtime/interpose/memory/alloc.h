/* For functions that allocate by way of malloc: the call that counts is theirs. Layer: runtime. Per thread; what is
 * announced holds for the next allocation. */
#ifndef DH_RUNTIME_INTERPOSE_MEMORY_ALLOC_H
#define DH_RUNTIME_INTERPOSE_MEMORY_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void dh_alloc_announce(const uintptr_t *call_slot);
/* Afterwards. True when no malloc of ours was called. */
bool dh_alloc_withdraw(void);
/* The block is about to be freed: reports that, and `free` will not again. */
void dh_alloc_freeing(const void *at, const uintptr_t *call_slot);
void dh_alloc_freed(void);

/* ---- on the engine's behalf ---- */

/* Between the two, what libc and the dynamic linker allocate (the thread-local storage of a new thread) comes from a
 * pool of ours: the program's allocator, its own or libc's, is the same in a search, where threads are coroutines, as
 * in a replay with kernel threads. One thread at a time. */
void dh_alloc_inner_begin(void);
void dh_alloc_inner_end(void);

/* What a program's own malloc, calloc, realloc and free ask first when libc calls them (instrument/own_allocator.h):
 * does the pool serve this, a block of its own or, with NULL, a new one? */
bool __dh_inner_takes(const void *block);
void *__dh_inner_malloc(size_t n);
void *__dh_inner_calloc(size_t n, size_t each);
void *__dh_inner_realloc(void *old, size_t n);
void __dh_inner_free(void *at);

#endif
