#include "by_hand.h"

#include "runtime/core/thread_state.h"

uint32_t outside_depth(void);

NOINLINE uint32_t outside_depth(void)
{
    ENTER;
    uint32_t depth = __dh_thread.depth;
    LEAVE;
    return depth;
}
