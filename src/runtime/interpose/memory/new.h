/* The real operator new and delete, of the C++ library if there is one. Layer: runtime. */
#ifndef DH_RUNTIME_INTERPOSE_MEMORY_NEW_H
#define DH_RUNTIME_INTERPOSE_MEMORY_NEW_H

#include <stddef.h>

extern void *_Znwm(size_t n);
extern void *_Znam(size_t n);
extern void *_ZnwmRKSt9nothrow_t(size_t n, const void *tag);
extern void *_ZnamRKSt9nothrow_t(size_t n, const void *tag);
extern void *_ZnwmSt11align_val_t(size_t n, size_t alignment);
extern void *_ZnamSt11align_val_t(size_t n, size_t alignment);
extern void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t n, size_t alignment, const void *tag);
extern void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t n, size_t alignment, const void *tag);
extern void _ZdlPv(void *at);
extern void _ZdaPv(void *at);
extern void _ZdlPvm(void *at, size_t n);
extern void _ZdaPvm(void *at, size_t n);
extern void _ZdlPvRKSt9nothrow_t(void *at, const void *tag);
extern void _ZdaPvRKSt9nothrow_t(void *at, const void *tag);
extern void _ZdlPvSt11align_val_t(void *at, size_t alignment);
extern void _ZdaPvSt11align_val_t(void *at, size_t alignment);
extern void _ZdlPvmSt11align_val_t(void *at, size_t n, size_t alignment);
extern void _ZdaPvmSt11align_val_t(void *at, size_t n, size_t alignment);

struct dh_real_new {
#define DH_NEW(name) __typeof__(name) *name;
#include "runtime/interpose/memory/new_list.def"
#undef DH_NEW
};

extern struct dh_real_new dh_real_new;

/* Part of dh_real_init. */
void dh_real_new_init(void);

#endif
