#include "runtime/core/public_hooks.h"

#include "runtime/core/frames.h"

#include "runtime/core/threads.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

#include <stddef.h>

#define FIRST_BLOCK ((size_t)8 << 10)

/* For threads that the race detector does not look at: knows nothing. */
uint64_t dh_knows_nothing[DH_NOTHING_LINES];
_Static_assert((int)DH_NOTHING_LINES >= (int)DH_KNOWN_LINES, "one for both");
struct dh_scope_accesses dh_scope_no_accesses;

struct dh_frames_watch dh_frames_watch;

#define MUST_GO(granules, n) (~(uint64_t)0xFFFF | (uint64_t)(granules) << (n))
#define FOUR(granules, n, width)                                                                                       \
    MUST_GO(granules, n), MUST_GO(granules, (n) + (width)), MUST_GO(granules, (n) + 2 * (width)),                      \
        MUST_GO(granules, (n) + 3 * (width))
__thread struct dh_thread_state __dh_thread = {
    .place = DH_PLACE_NONE,
    .known = dh_knows_nothing,
    .recorded = dh_knows_nothing,
    .runs = dh_no_runs,
    .small = dh_no_small,
    .scope_accesses = &dh_scope_no_accesses,
    .must_go4 = {FOUR(1, 0, 1), FOUR(1, 4, 1), FOUR(1, 8, 1), FOUR(1, 12, 1)},
    .must_go8 = {FOUR(3, 0, 2), FOUR(3, 8, 2)},
};

/* Block sizes are powers of two; one entry lies below frames[0]. */
static uint32_t capacity_of(size_t block)
{
    size_t n = block / sizeof(struct dh_frame) - 1;
    return n < DH_FRAMES_MAX ? (uint32_t)n : DH_FRAMES_MAX;
}

static size_t block_of(uint32_t capacity)
{
    size_t block = FIRST_BLOCK;
    while (capacity_of(block) < capacity)
        block *= 2;
    return block;
}

/* Where a block keeps the smaller one that it replaced. A hook that a signal interrupted may still write there, so
 * it lives as long as the thread. */
static uintptr_t *replaced_of(struct dh_frame *frames)
{
    return &frames[-1].return_address;
}

static struct dh_frame *new_frames(size_t block, struct dh_frame *replaced)
{
    struct dh_frame *frames = dh_alloc(block);
    if (!frames)
        return NULL;
    frames++;
    frames[-1] = (struct dh_frame){.frame = UINTPTR_MAX};
    *replaced_of(frames) = (uintptr_t)replaced;
    return frames;
}

bool dh_frames_init(struct dh_thread_state *t)
{
    struct dh_frame *frames = new_frames(FIRST_BLOCK, NULL);
    if (!frames)
        return false;
    t->depth = 0;
    t->frames = frames;
    t->capacity = capacity_of(FIRST_BLOCK);
    return true;
}

void dh_frames_release(struct dh_thread_state *t)
{
    struct dh_frame *frames = t->frames;
    uint32_t capacity = t->capacity;
    t->capacity = 0; /* first: a signal handler from here on only counts */
    t->frames = NULL;
    for (size_t block = block_of(capacity); frames; block /= 2) {
        struct dh_frame *next = (struct dh_frame *)*replaced_of(frames);
        dh_free(frames - 1, block);
        frames = next;
    }
}

static bool grow(struct dh_thread_state *t)
{
    if (t->capacity >= DH_FRAMES_MAX || t->growing)
        return false;
    t->growing = 1;
    struct dh_frame *old = t->frames;
    uint32_t old_capacity = t->capacity;
    size_t block = block_of(old_capacity) * 2;
    struct dh_frame *frames = new_frames(block, old);
    if (frames) {
        dh_bytes_copy(frames, old, old_capacity * sizeof *frames);
        t->frames = frames;
        t->capacity = capacity_of(block);
    }
    t->growing = 0;
    return frames;
}

static bool on_stack(const struct dh_thread_state *t, uintptr_t address)
{
    return address >= t->stack_low && address < t->stack_high;
}

/* Stacks grow down: an entry at or below a new frame was left by longjmp or an exception. That holds on the
 * thread's ordinary stack only; alternate stacks and coroutines lie anywhere. */
static void pop_dead(struct dh_thread_state *t, uintptr_t frame)
{
    if (!on_stack(t, frame))
        return;
    frame |= 1; /* entries may have their lowest bit set (atomrace.c) */
    uint32_t depth = dh_frames_known(t), live = depth;
    while (live && t->frames[live - 1].frame <= frame && on_stack(t, t->frames[live - 1].frame))
        live--;
    if (live < depth)
        t->depth = live;
}

/* Called through __dh_enter_slow or __dh_enter. */
uint32_t dh_frames_enter_slow(const void *frame, const void *return_address)
{
    struct dh_thread_state *t = &__dh_thread;
    if (!t->capacity)
        dh_thread_attach();
    if (t->capacity)
        pop_dead(t, (uintptr_t)frame);
    uint32_t depth = t->depth;
    if (depth < t->capacity || (t->capacity && depth == t->capacity && grow(t)))
        dh_frame_push(t, depth, frame, return_address);
    else
        t->depth = depth + (depth < DH_DEPTH_NONE - 1);
    return depth;
}

uint32_t __dh_enter(const void *frame, const void *return_address)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t depth = t->depth;
    if (depth >= t->capacity || t->frames[(int64_t)depth - 1].frame <= ((uintptr_t)frame | 1))
        depth = dh_frames_enter_slow(frame, return_address);
    else
        dh_frame_push(t, depth, frame, return_address);
    if (dh_frames_watch.entered)
        dh_frames_watch.entered(__builtin_return_address(0), depth);
    return depth;
}

void __dh_leave(uint32_t depth)
{
    if (depth != DH_DEPTH_NONE)
        __dh_thread.depth = depth;
    if (dh_frames_watch.left)
        dh_frames_watch.left(__builtin_return_address(0), depth);
}

void __dh_spare(const void *a, const void *b)
{
    __dh_thread.spared[0] = a;
    __dh_thread.spared[1] = b;
}

void __dh_resume(uint32_t depth)
{
    if (depth != DH_DEPTH_NONE)
        __dh_thread.depth = depth + 1;
}

/* The inline fast path calls this one with the convention preserve_most, which gcc does not know: everything but
 * rax and r11 stays as it was, so the common way through the caller spills nothing. */
__asm__(".text\n"
        ".globl __dh_enter_slow\n"
        ".hidden __dh_enter_slow\n"
        ".type __dh_enter_slow, @function\n"
        "__dh_enter_slow:\n"
        ".cfi_startproc\n"
        "push %rcx\n.cfi_adjust_cfa_offset 8\n"
        "push %rdx\n.cfi_adjust_cfa_offset 8\n"
        "push %rsi\n.cfi_adjust_cfa_offset 8\n"
        "push %rdi\n.cfi_adjust_cfa_offset 8\n"
        "push %r8\n.cfi_adjust_cfa_offset 8\n"
        "push %r9\n.cfi_adjust_cfa_offset 8\n"
        "push %r10\n.cfi_adjust_cfa_offset 8\n"
        "call dh_frames_enter_slow\n"
        "pop %r10\n.cfi_adjust_cfa_offset -8\n"
        "pop %r9\n.cfi_adjust_cfa_offset -8\n"
        "pop %r8\n.cfi_adjust_cfa_offset -8\n"
        "pop %rdi\n.cfi_adjust_cfa_offset -8\n"
        "pop %rsi\n.cfi_adjust_cfa_offset -8\n"
        "pop %rdx\n.cfi_adjust_cfa_offset -8\n"
        "pop %rcx\n.cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size __dh_enter_slow, .-__dh_enter_slow\n");
