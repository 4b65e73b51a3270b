/* Growable arrays. Layer: base. The owner of the struct owns the storage; release it with dh_vec_release.
 * Aborts when memory is gone: hosted code only, the runtime has its own storage. Not thread-safe. */
#ifndef DH_BASE_VEC_H
#define DH_BASE_VEC_H

#include "base/alloc.h"

#include <stddef.h>

#define DH_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *at;                                                                                                         \
        size_t n, cap;                                                                                                 \
    }

static inline void *dh_vec_grow(void *at, size_t *cap, size_t need, size_t item)
{
    size_t want = *cap ? *cap : 8;
    while (want < need)
        want *= 2;
    *cap = want;
    return dh_xrealloc(at, want, item);
}

/* Room for k more; the pointer stays valid until the next growth. */
#define dh_vec_reserve(v, k)                                                                                           \
    do {                                                                                                               \
        if ((v)->n + (k) > (v)->cap)                                                                                   \
            (v)->at = dh_vec_grow((v)->at, &(v)->cap, (v)->n + (k), sizeof *(v)->at);                                  \
    } while (0)

#define dh_vec_push(v, ...)                                                                                            \
    do {                                                                                                               \
        dh_vec_reserve(v, 1);                                                                                          \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                                             \
    } while (0)

#define dh_vec_release(v)                                                                                              \
    do {                                                                                                               \
        free((v)->at);                                                                                                 \
        (v)->at = NULL;                                                                                                \
        (v)->n = (v)->cap = 0;                                                                                         \
    } while (0)

#endif
