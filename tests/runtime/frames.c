/* The shadow stack over longjmp, deep recursion, signals on another stack and coroutines. */
#include "by_hand.h"

#include "runtime/core/context.h"
#include "runtime/core/frames.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

static jmp_buf back;
static uint32_t main_depth;

/* What the shadow stack says now must be these functions' call sites: compared by the depth and by context. */
static uint32_t depth_now(void)
{
    return __dh_thread.depth - main_depth;
}

NOINLINE static void jump(int depth)
{
    ENTER;
    if (depth)
        jump(depth - 1);
    else
        longjmp(back, 1);
    LEAVE;
}

NOINLINE static uint32_t leaf_depth(void)
{
    ENTER;
    uint32_t depth = depth_now();
    LEAVE;
    return depth;
}

/* With the resume that the instrumenter places, and without (code that is not instrumented called setjmp). */
NOINLINE static void over_longjmp(int resume)
{
    ENTER;
    CHECK(depth_now() == 1);
    if (setjmp(back) == 0)
        jump(5);
    if (resume) {
        RESUME;
        CHECK(depth_now() == 1);
    }
    CHECK(leaf_depth() == 2);
    LEAVE;
    CHECK(depth_now() == 0);
}

NOINLINE static void recurse(uint32_t n, uint32_t *deepest)
{
    ENTER;
    *deepest = depth_now();
    if (n)
        recurse(n - 1, deepest);
    CHECK(depth_now() + n == *deepest);
    LEAVE;
}

static void over_recursion(void)
{
    uint32_t deepest = 0;
    recurse(100000, &deepest);
    CHECK(deepest == 100001 && depth_now() == 0);
    CHECK(__dh_thread.capacity == DH_FRAMES_MAX);
    if (setjmp(back) == 0)
        jump(90000); /* out of the part that is only counted */
    CHECK(leaf_depth() == 1);
    __dh_leave(main_depth);
}

static volatile uint32_t handler_depth;

NOINLINE static void handler(int signal)
{
    ENTER;
    (void)signal;
    handler_depth = leaf_depth();
    LEAVE;
}

NOINLINE static void over_signal(void)
{
    ENTER;
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    CHECK(handler_depth == 3);
    CHECK(depth_now() == 1);
    LEAVE;
}

static ucontext_t here, there;

NOINLINE static void coroutine(void)
{
    ENTER;
    for (;;) {
        CHECK(leaf_depth() >= 2);
        swapcontext(&there, &here);
    }
    LEAVE;
}

NOINLINE static void over_coroutine(void)
{
    ENTER;
    static char stack[65536];
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    makecontext(&there, coroutine, 0);
    for (int i = 0; i < 100; i++)
        swapcontext(&here, &there);
    LEAVE;
    CHECK(depth_now() == 0);
}

NOINLINE static uint32_t context_here(void)
{
    ENTER;
    uint32_t id = dh_context_intern(&__dh_thread);
    CHECK(id && id == dh_context_intern(&__dh_thread));
    LEAVE;
    return id;
}

NOINLINE static void contexts(void)
{
    ENTER;
    uint32_t ids[2];
    for (int i = 0; i < 2; i++)
        ids[i] = context_here();
    CHECK(ids[0] == ids[1]);
    uint32_t other = context_here();
    CHECK(other != ids[0]);
    uintptr_t a[64], b[64];
    size_t n = dh_context_frames(ids[0], a, 64);
    CHECK(n == __dh_thread.depth + 1 && dh_context_frames(other, b, 64) == n);
    CHECK(a[0] != b[0] && memcmp(a + 1, b + 1, (n - 1) * sizeof *a) == 0);
    CHECK(a[1] == (uintptr_t)__builtin_return_address(0));
    CHECK(dh_context_extend(other, 77) == dh_context_extend(other, 77));
    CHECK(dh_context_extend(other, 77) != dh_context_extend(other, 78));
    LEAVE;
}

int main(void)
{
    ENTER;
    main_depth = __dh_thread.depth;
    CHECK(main_depth >= 1);
    over_longjmp(1);
    over_longjmp(0);
    contexts();
    over_recursion();
    over_signal();
    over_coroutine();
    contexts();
    LEAVE;
    return 0;
}
