#include "runtime/core/context.h"

#include "base/hash.h"
#include "runtime/core/frames.h"
#include "runtime/platform/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>

struct node {
    uint64_t value; /* V of the whole stack */
    uintptr_t return_address;
    uint32_t parent;
    uint32_t next; /* in the bucket; 0 ends it */
};

#define SEGMENT_BITS 12
#define SEGMENT_NODES (1u << SEGMENT_BITS)
#define SEGMENTS 4096
#define BUCKET_BITS 16
#define BUCKETS (1u << BUCKET_BITS)

static _Atomic(struct node *) segments[SEGMENTS];
static _Atomic uint32_t buckets[BUCKETS]; /* ids of nodes; 0 = empty, as the root is in none */
static _Atomic uint32_t next_id = 1;
static _Atomic uint32_t lost;

static struct node *node_of(uint32_t id)
{
    struct node *s = atomic_load_explicit(&segments[id >> SEGMENT_BITS], memory_order_acquire);
    return &s[id & (SEGMENT_NODES - 1)];
}

static uint64_t value_of(uint32_t id)
{
    return id == DH_CONTEXT_ROOT ? 0 : node_of(id)->value;
}

static bool make_segment(uint32_t index)
{
    if (atomic_load_explicit(&segments[index], memory_order_acquire))
        return true;
    struct node *fresh = dh_alloc(sizeof(struct node) * SEGMENT_NODES);
    if (!fresh)
        return false;
    struct node *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(&segments[index], &none, fresh, memory_order_acq_rel,
                                                 memory_order_acquire))
        dh_free(fresh, sizeof(struct node) * SEGMENT_NODES);
    return true;
}

static uint32_t take_id(void)
{
    uint32_t id = atomic_load_explicit(&next_id, memory_order_relaxed);
    do {
        if (id >= SEGMENTS * SEGMENT_NODES || !make_segment(id >> SEGMENT_BITS)) {
            atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(&next_id, &id, id + 1, memory_order_relaxed, memory_order_relaxed));
    return id;
}

static _Atomic uint32_t *bucket_of(uint64_t value)
{
    return &buckets[dh_hash_multiply(value) >> (64 - BUCKET_BITS)];
}

/* From `id` along the bucket up to `end`. */
static uint32_t find_child(uint32_t id, uint32_t end, uint32_t parent, uintptr_t return_address)
{
    while (id != end) {
        const struct node *n = node_of(id);
        if (n->parent == parent && n->return_address == return_address)
            return id;
        id = n->next;
    }
    return 0;
}

uint32_t dh_context_extend(uint32_t parent, uintptr_t return_address)
{
    uint64_t value = dh_context_step(value_of(parent), return_address);
    _Atomic uint32_t *bucket = bucket_of(value);
    uint32_t head = atomic_load_explicit(bucket, memory_order_acquire), searched = 0, mine = 0;
    for (;;) {
        uint32_t found = find_child(head, searched, parent, return_address);
        if (found)
            return found; /* `mine`, if taken, stays unused */
        if (!mine && !(mine = take_id()))
            return DH_CONTEXT_ROOT;
        *node_of(mine) = (struct node){value, return_address, parent, head};
        searched = head;
        if (atomic_compare_exchange_strong_explicit(bucket, &head, mine, memory_order_acq_rel, memory_order_acquire))
            return mine;
    }
}

/* The lowest `n` frames are told by V and checked by the last two of them: V alone is a hash of 64 bits, and equal ones
 * of different stacks would have to agree in both. */
static bool same_stack(uint32_t id, const struct dh_frame *frames, uint32_t n)
{
    const struct node *node = node_of(id);
    return node->value == frames[n - 1].context && node->return_address == frames[n - 1].return_address &&
           value_of(node->parent) == (n > 1 ? frames[n - 2].context : 0);
}

static uint32_t find_stack(const struct dh_frame *frames, uint32_t n)
{
    uint32_t id = atomic_load_explicit(bucket_of(frames[n - 1].context), memory_order_acquire);
    while (id && !same_stack(id, frames, n))
        id = node_of(id)->next;
    return id;
}

/* What is known already is found from the top; only what is new is added. */
uint32_t dh_context_intern(const struct dh_thread_state *t)
{
    uint32_t n = dh_frames_known(t), known = n, id = DH_CONTEXT_ROOT;
    while (known && !(id = find_stack(t->frames, known)))
        known--;
    for (uint32_t i = known; i < n; i++) {
        id = dh_context_extend(id, t->frames[i].return_address);
        if (id == DH_CONTEXT_ROOT)
            return DH_CONTEXT_ROOT;
    }
    return id;
}

size_t dh_context_frames(uint32_t id, uintptr_t *out, size_t max)
{
    size_t n = 0;
    for (; id != DH_CONTEXT_ROOT; id = node_of(id)->parent, n++)
        if (n < max)
            out[n] = node_of(id)->return_address;
    return n;
}

uint32_t dh_context_parent(uint32_t id, uintptr_t *return_address)
{
    const struct node *n = node_of(id);
    *return_address = n->return_address;
    return n->parent;
}

uint32_t dh_context_count(void)
{
    return atomic_load_explicit(&next_id, memory_order_relaxed) - 1;
}

uint32_t dh_context_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}
