/* Alternate stacks for signal handlers. What the kernel puts on one of the least size leaves a handler some hundred
 * bytes, and the detector needs more: a small one is replaced by a larger one of ours, which nobody sees but by the
 * addresses of a handler's locals. */
#include "runtime/interpose/interpose.h"
#include "runtime/platform/alloc.h"

#include <errno.h>
#include <sys/auxv.h>

enum { SMALL = 8 << 10, OURS = 32 << 10 };
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static __thread stack_t wanted; /* the program's; ss_size is 0 when it is the kernel's, too */
static __thread void *ours;     /* lives on after the thread: a signal may still come */

static bool is_small(const stack_t *s)
{
    size_t least = getauxval(AT_MINSIGSTKSZ);
    return !(s->ss_flags & SS_DISABLE) && s->ss_size < SMALL + least && s->ss_size >= (least ? least : MINSIGSTKSZ) &&
           s->ss_sp;
}

static size_t own_size(void)
{
    return OURS + getauxval(AT_MINSIGSTKSZ);
}

static int dh_interposed_sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    dh_interpose_ready();
    stack_t before = wanted, instead;
    bool replaced = stack && is_small(stack) && (ours || (ours = dh_alloc(own_size())));
    if (replaced)
        instead = (stack_t){.ss_sp = ours, .ss_size = own_size(), .ss_flags = stack->ss_flags};
    stack_t asked = stack ? *stack : (stack_t){0};
    int result = dh_real.sigaltstack(replaced ? &instead : stack, old);
    if (result != 0)
        return result;
    if (old && old->ss_sp == ours && before.ss_size) {
        old->ss_sp = before.ss_sp;
        old->ss_size = before.ss_size;
    }
    if (stack)
        wanted = replaced ? asked : (stack_t){0};
    return result;
}
DH_INTERPOSE(sigaltstack);
