#include "runtime/engine/quarantine.h"

#include "runtime/core/print.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/coroutine.h"
#include "runtime/engine/hb_check.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/interpose/real.h"

/* Of large blocks only so many bytes are asked about when they are freed. */
enum {
    ASKED_FIRST = 16,
    ASKED_EVERY = 256,
    STACK_ASKED = 4096,
    CHECKED_MOST = 16 << 10,
    FORGOTTEN_MOST = 1 << 20,
    BLOCKS = 8192,
    BYTES_MOST = 256 << 20
};

struct block {
    uintptr_t low, high;
    uint32_t thread, place;
};

/* By address; the bounds spare most accesses the search. */
static struct freed {
    uintptr_t low, high;
    size_t bytes;
    unsigned n;
    struct block blocks[BLOCKS];
} *freed;

bool dh_quarantine_init(void)
{
    freed = dh_keep_alloc(sizeof *freed);
    return freed;
}

void dh_quarantine_begin(void)
{
    freed->n = 0;
    freed->bytes = 0;
    freed->low = UINTPTR_MAX;
    freed->high = 0;
}

/* The first that ends above. */
static unsigned position(uintptr_t at)
{
    unsigned low = 0, high = freed->n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (freed->blocks[middle].high <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void found(const struct block *b, uint32_t place, const char *what)
{
    char text[DH_ENGINE_TEXT];
    dh_print_text(text, sizeof text, "%s: freed by thread %u at place %u", what, b->thread, b->place);
    dh_found_ends_set_text(text);
    dh_engine_self()->last_place = place;
    dh_engine_end_schedule(DH_ENGINE_FREED);
}

static void keep(uintptr_t low, size_t size, uint32_t place)
{
    unsigned at = position(low);
    for (unsigned i = freed->n++; i > at; i--)
        freed->blocks[i] = freed->blocks[i - 1];
    freed->blocks[at] = (struct block){low, low + size, dh_engine_self()->index, place};
    freed->bytes += size;
    freed->low = low < freed->low ? low : freed->low;
    freed->high = low + size > freed->high ? low + size : freed->high;
}

/* A visible step only where the call was found to matter. */
static void step(uintptr_t low, size_t size, uint32_t place)
{
    struct dh_engine *e = dh_engine;
    struct dh_step s = {.kind = DH_STEP_FREE,
                        .flags = DH_STEP_WRITES,
                        .site = place,
                        .object = low,
                        .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size};
    if (place && (e->flags & DH_ENGINE_ALL_VISIBLE || (place < e->n_visible && e->visible[place])))
        dh_engine_park(&s);
    else {
        s.size = s.size > CHECKED_MOST ? CHECKED_MOST : s.size;
        dh_hb_check_access(&s);
    }
}

static void drop(uintptr_t low, uintptr_t high)
{
    unsigned to = 0;
    for (unsigned i = 0; i < freed->n; i++)
        if (freed->blocks[i].high <= low || freed->blocks[i].low >= high)
            freed->blocks[to++] = freed->blocks[i];
    freed->n = to;
}

/* Steps of their own if place 0 is visible. Else whether somebody uses them unordered is asked in few schedules only:
 * there are many bytes to ask about. */
static void give_up(const struct dh_task *t, uintptr_t low, size_t size)
{
    struct dh_step s = {.kind = DH_STEP_FREE, .flags = DH_STEP_WRITES, .object = low, .size = (uint32_t)size};
    if (!dh_engine->n_visible || !dh_engine->visible[0]) {
        dh_hb_check_access(&s);
        return;
    }
    dh_engine_park(&s);
    if (freed->n < BLOCKS)
        keep(low, size, t->last_place);
}

void dh_quarantine_task_ends(const struct dh_task *t)
{
    size_t variables = dh_tls_size();
    uint64_t number = dh_engine->control->progress.schedules;
    bool visible = dh_engine->n_visible && dh_engine->visible[0];
    if (t->index == 0 || (!visible && number >= ASKED_FIRST && number % ASKED_EVERY))
        return;
    if (variables)
        give_up(t, t->fs - variables, variables);
    if (!t->own_stack && !dh_engine->carrier->is_kernel && !visible)
        give_up(t, (uintptr_t)t->stack + t->stack_size - STACK_ASKED, STACK_ASKED);
}

/* Of thread-local storage what lies below the thread pointer: above it is libc's own record, which whoever joins reads.
 */
void dh_quarantine_task_ended(const struct dh_task *t)
{
    size_t variables = dh_tls_size();
    if (t->index == 0 || freed->n + 2 > BLOCKS)
        return;
    if (variables && !(dh_engine->n_visible && dh_engine->visible[0]))
        keep(t->fs - variables, variables, t->last_place);
    if (!t->own_stack && !dh_engine->carrier->is_kernel)
        keep((uintptr_t)t->stack, t->stack_size, t->last_place);
}

void dh_quarantine_task_begins(const struct dh_task *t)
{
    if (dh_engine->carrier->is_kernel && freed->n)
        drop((uintptr_t)t->stack, t->fs);
}

bool dh_quarantine_free(void *at)
{
    uintptr_t low = (uintptr_t)at;
    if (!dh_engine->current)
        return false;
    uint32_t place = dh_engine_call_place();
    size_t size = dh_real.malloc_usable_size(at);
    step(low, size, place);
    unsigned i = position(low);
    if (i < freed->n && freed->blocks[i].low == low)
        found(&freed->blocks[i], place, "freed twice");
    if (freed->n == BLOCKS || freed->bytes + size > BYTES_MOST)
        return false;
    keep(low, size, place);
    dh_adversary_forget(low, size);
    return true;
}

void dh_quarantine_allocated(const void *at, size_t size)
{
    dh_adversary_forget((uintptr_t)at, size);
    /* Larger ones are mappings of their own, new in every schedule. */
    if (size < FORGOTTEN_MOST)
        dh_hb_check_forget((uintptr_t)at, size);
}

void dh_quarantine_check_access(uintptr_t at, size_t size)
{
    if (at >= freed->high || at + size <= freed->low)
        return;
    unsigned i = position(at);
    if (i < freed->n && freed->blocks[i].low < at + size)
        found(&freed->blocks[i], dh_engine_self()->last_place, "used");
}
