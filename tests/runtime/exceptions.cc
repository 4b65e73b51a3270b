// Frames that an exception left are gone, caught with or without a hook at the landing pad.
#include "by_hand.h"

extern "C" {
#include "runtime/core/thread_state.h"
}

NOINLINE static void thrower(int depth)
{
    ENTER;
    if (depth)
        thrower(depth - 1);
    else
        throw depth;
    LEAVE;
}

NOINLINE static uint32_t leaf_depth()
{
    ENTER;
    uint32_t depth = __dh_thread.depth;
    LEAVE;
    return depth;
}

NOINLINE static void catcher(bool resume)
{
    ENTER;
    uint32_t own = __dh_thread.depth;
    try {
        thrower(7);
    } catch (int) {
        if (resume) {
            RESUME;
            CHECK(__dh_thread.depth == own);
        }
        CHECK(leaf_depth() == own + 1);
    }
    CHECK(leaf_depth() == own + 1);
    LEAVE;
}

int main()
{
    ENTER;
    uint32_t before = __dh_thread.depth;
    for (int i = 0; i < 3; i++) {
        catcher(true);
        catcher(false);
    }
    CHECK(__dh_thread.depth == before);
    LEAVE;
    return 0;
}
