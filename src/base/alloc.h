/* Allocation that cannot fail: says so in one line and aborts when memory is gone. Layer: base. Hosted code only; the
 * runtime has its own allocator. Give back with free(). Never NULL, not even for no bytes. */
#ifndef DH_BASE_ALLOC_H
#define DH_BASE_ALLOC_H

#include <stddef.h>
#include <stdlib.h>

void *dh_xmalloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
/* `n` items of `size` bytes, all zero; a product that overflows is memory that is not there. */
void *dh_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
/* `at` (NULL: nothing yet) with room for `n` items; what is new is not cleared. */
void *dh_xrealloc(void *at, size_t n, size_t size) __attribute__((returns_nonnull, alloc_size(2, 3)));
void *dh_xmemdup(const void *from, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* One item, an array, a longer array, of the type that the pointer has. */
#define DH_NEW(T) ((T *)dh_xcalloc(1, sizeof(T)))
#define DH_NEW_ARRAY(T, n) ((T *)dh_xcalloc(n, sizeof(T)))
#define DH_GROW_ARRAY(at, n) ((at) = dh_xrealloc(at, n, sizeof *(at)))

#endif
