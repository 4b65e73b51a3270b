#include "runtime/engine/checks/quarantine.h"

#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/tasks/coroutine.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/print.h"

enum {
    CHECKED_FIRST = 16,      /* schedules in which the ends of threads are checked for races, */
    CHECKED_EVERY = 256,     /* and then one in so many; */
    CHECKED_TASKS = 32,      /* of more threads, so many in each schedule */
    STACK_CHECKED = 4096,    /* bytes */
    CHECKED_MOST = 16 << 10, /* bytes of a block that is freed */
    FORGOTTEN_MOST = 1 << 20,
    BLOCKS = 8192,
    BYTES_MOST = 256 << 20
};

struct block {
    uintptr_t low, high;
    uint32_t thread, place;
};

/* By address. */
static struct quarantine {
    struct dh_quarantine_filter filter;
    size_t bytes;
    unsigned n;
    struct block blocks[BLOCKS];
} *quarantine;

bool dh_quarantine_init(void)
{
    quarantine = dh_keep_alloc(sizeof *quarantine);
    dh_engine->freed = quarantine ? &quarantine->filter : NULL;
    return quarantine;
}

/* Of a block so long that it has every number all lines are marked. */
static void mark_lines(const struct block *b, bool freed)
{
    enum { WORD = 64 };
    uintptr_t low = b->low >> DH_QUARANTINE_LINE_SHIFT, end = ((b->high - 1) >> DH_QUARANTINE_LINE_SHIFT) + 1, next;
    end = end - low < DH_QUARANTINE_LINES ? end : low + DH_QUARANTINE_LINES;
    for (uintptr_t i = low; i < end; i = next) {
        next = (i / WORD + 1) * WORD < end ? (i / WORD + 1) * WORD : end;
        uint64_t *word = &quarantine->filter.lines[i % DH_QUARANTINE_LINES / WORD];
        uint64_t bits = UINT64_MAX >> (WORD - (next - i)) << i % WORD;
        *word = freed ? *word | bits : *word & ~bits;
    }
}

void dh_quarantine_begin(void)
{
    for (unsigned i = 0; i < quarantine->n; i++)
        mark_lines(&quarantine->blocks[i], false);
    quarantine->n = 0;
    quarantine->bytes = 0;
    quarantine->filter.low = UINTPTR_MAX;
    quarantine->filter.high = 0;
}

/* After a long beginning there must be room again; what it holds is never freed. */
void dh_quarantine_begin_here(void)
{
    if (quarantine->n > BLOCKS / 2 || quarantine->bytes > BYTES_MOST / 2)
        dh_quarantine_begin();
}

/* The first block that ends above. */
static unsigned position(uintptr_t at)
{
    unsigned low = 0, high = quarantine->n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (quarantine->blocks[middle].high <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void end_with(const struct block *b, uint32_t place, const char *what)
{
    char text[DH_ENGINE_TEXT];
    dh_print_text(text, sizeof text, "%s: freed by thread %u at place %u", what, b->thread, b->place);
    dh_found_ends_set_text(text);
    dh_engine_self()->last_place = place;
    dh_engine_end_schedule(DH_ENGINE_FREED);
}

static void add_block(uintptr_t low, size_t size, uint32_t place)
{
    unsigned at = position(low);
    for (unsigned i = quarantine->n++; i > at; i--)
        quarantine->blocks[i] = quarantine->blocks[i - 1];
    quarantine->blocks[at] = (struct block){low, low + size, dh_engine_self()->index, place};
    quarantine->bytes += size;
    struct dh_quarantine_filter *f = &quarantine->filter;
    f->low = low < f->low ? low : f->low;
    f->high = low + size > f->high ? low + size : f->high;
    if (size)
        mark_lines(&quarantine->blocks[at], true);
}

/* A visible step only at visible places. */
static void free_step(uintptr_t low, size_t size, uint32_t place)
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

static void remove_blocks(uintptr_t low, uintptr_t high)
{
    unsigned to = 0;
    for (unsigned i = 0; i < quarantine->n; i++)
        if (quarantine->blocks[i].high <= low || quarantine->blocks[i].low >= high)
            quarantine->blocks[to++] = quarantine->blocks[i];
    quarantine->n = to; /* their lines stay marked */
}

/* Visible steps if place 0 is visible. Else they are checked for races in few schedules only: there are many bytes. */
static void free_of_task(const struct dh_task *t, uintptr_t low, size_t size)
{
    struct dh_step s = {.kind = DH_STEP_FREE, .flags = DH_STEP_WRITES, .object = low, .size = (uint32_t)size};
    if (!dh_engine->n_visible || !dh_engine->visible[0]) {
        dh_hb_check_access(&s);
        return;
    }
    dh_engine_park(&s);
    if (quarantine->n < BLOCKS)
        add_block(low, size, t->last_place);
}

/* Is the end of the task checked in this schedule? With many threads, of some of them at a time. */
static bool is_end_checked(const struct dh_task *t)
{
    uint64_t number = dh_engine->control->progress.schedules;
    uint32_t groups = (dh_engine->n_tasks + CHECKED_TASKS - 1) / CHECKED_TASKS;
    if (number >= CHECKED_FIRST && number % CHECKED_EVERY)
        return false;
    return (t->index + number % CHECKED_EVERY + number / CHECKED_EVERY) % groups == 0;
}

void dh_quarantine_task_ends(const struct dh_task *t)
{
    size_t variables = dh_tls_size();
    bool visible = dh_engine->n_visible && dh_engine->visible[0];
    if (t->index == 0 || (!visible && !is_end_checked(t)))
        return;
    if (variables)
        free_of_task(t, t->fs - variables, variables);
    if (!t->user_stack && !dh_engine->carrier->is_kernel && !visible)
        free_of_task(t, (uintptr_t)t->stack + t->stack_size - STACK_CHECKED, STACK_CHECKED);
}

/* Of thread-local storage what lies below the thread pointer: above it is libc's own record, which a joiner reads. */
void dh_quarantine_task_ended(const struct dh_task *t)
{
    size_t variables = dh_tls_size();
    if (t->index == 0 || quarantine->n + 2 > BLOCKS)
        return;
    if (variables && !(dh_engine->n_visible && dh_engine->visible[0]))
        add_block(t->fs - variables, variables, t->last_place);
    if (!t->user_stack && !dh_engine->carrier->is_kernel)
        add_block((uintptr_t)t->stack, t->stack_size, t->last_place);
}

void dh_quarantine_task_begins(const struct dh_task *t)
{
    if (dh_engine->carrier->is_kernel && quarantine->n)
        remove_blocks((uintptr_t)t->stack, t->fs);
}

bool dh_quarantine_free(void *at)
{
    uintptr_t low = (uintptr_t)at;
    if (!dh_engine->current)
        return false;
    uint32_t place = dh_engine_call_place();
    size_t size = dh_real.malloc_usable_size(at);
    free_step(low, size, place);
    unsigned i = position(low);
    if (i < quarantine->n && quarantine->blocks[i].low == low)
        end_with(&quarantine->blocks[i], place, "freed twice");
    if (quarantine->n == BLOCKS || quarantine->bytes + size > BYTES_MOST)
        return false;
    add_block(low, size, place);
    dh_adversary_forget(low, size);
    return true;
}

void dh_quarantine_allocated(const void *at, size_t size)
{
    dh_adversary_forget((uintptr_t)at, size);
    /* Larger blocks are mappings of their own, new in every schedule. */
    if (size < FORGOTTEN_MOST)
        dh_hb_check_forget((uintptr_t)at, size);
}

void dh_quarantine_check_access(uintptr_t at, size_t size)
{
    if (at >= quarantine->filter.high || at + size <= quarantine->filter.low)
        return;
    unsigned i = position(at);
    if (i < quarantine->n && quarantine->blocks[i].low < at + size)
        end_with(&quarantine->blocks[i], dh_engine_self()->last_place, "used");
}
