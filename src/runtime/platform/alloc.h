/* Memory of the runtime's own, from mmap. Layer: runtime. Never the program's malloc. Lock-free, so it may be
 * used by any thread, in signal handlers and after fork. Blocks are 16-aligned; the caller remembers the size.
 * NULL when the system gives no more: callers degrade. Freed small memory stays mapped and is used again. */
#ifndef DH_RUNTIME_PLATFORM_ALLOC_H
#define DH_RUNTIME_PLATFORM_ALLOC_H

#include <stddef.h>

/* Not zeroed. */
void *dh_alloc(size_t size);
void dh_free(void *at, size_t size);
/* Never freed; zeroed. */
void *dh_alloc_forever(size_t size);
/* A copy that is never freed. */
const char *dh_alloc_text(const char *text);
/* `a` and then `b`, never freed. */
char *dh_alloc_joined(const char *a, const char *b);

#endif
