#include "runtime/core/public_hooks.h"

#include "runtime/engine/hook_removal.h"

#include "runtime/core/frames.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/system/kernel_call.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { CALL = 0xE8, CALL_SIZE = 5, MOST = 1 << 18, MODULES = 1 + DH_ENGINE_LIBRARIES, PAGE = DH_ENGINE_PAGE };

/* Calls as they are linked: the displacement is that of the call from its end. */
struct call {
    uint8_t bytes[CALL_SIZE];
};
static const struct call no_operation = {{0x0f, 0x1f, 0x44, 0x00, 0x00}};
static const struct call enters_nothing = {{0xb8, 0xff, 0xff, 0xff, 0xff}}; /* mov $DH_DEPTH_NONE, %eax */

/* In lasting memory: what children remove counts for all. */
static struct removal {
    uint32_t n;
    struct removed {
        uintptr_t at;
        struct call was, is;
    } at[MOST];
} *removal;
static uint32_t n_applied; /* of them, where schedules are children: in this process */

/* The code of a module, and what it calls. */
static struct code {
    uintptr_t low, high; /* 0: nothing is removed there */
    struct dh_hook_entries entries;
} codes[MODULES];
static unsigned n_codes;

/* The latest function that was entered and where in the search that was: it is one without steps and accesses that are
 * checked if it is left next. */
static struct latest {
    const void *call_end; /* NULL: there is none */
    uint32_t depth, turn;
    uint64_t operations;
} latest;

void __dh_entries(const struct dh_hook_entries *entries)
{
    if (n_codes < MODULES)
        codes[n_codes++] = (struct code){.entries = *entries};
}

/* ---- writing code ---- */

/* False, not a fault, where the program unmapped it. */
static bool write_call(uintptr_t at, const struct call *call)
{
    struct iovec from = {(void *)call->bytes, CALL_SIZE}, to = {(void *)at, CALL_SIZE};
    long pid = dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return dh_kernel_call(SYS_process_vm_writev, pid, (long)&from, 1, (long)&to, 1, 0) == CALL_SIZE;
}

static bool holds(const ElfW(Phdr) * p, uintptr_t bias, uintptr_t address)
{
    return p->p_type == PT_LOAD && p->p_flags & PF_X && address - (bias + p->p_vaddr) < p->p_memsz;
}

static int find_segment(struct dl_phdr_info *module, size_t size, void *code)
{
    struct code *c = code;
    (void)size;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];
        if (!holds(p, module->dlpi_addr, (uintptr_t)c->entries.before))
            continue;
        c->low = (module->dlpi_addr + p->p_vaddr) & ~(uintptr_t)(PAGE - 1);
        c->high = (module->dlpi_addr + p->p_vaddr + p->p_memsz + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        return 1;
    }
    return 0;
}

/* Is it possible? A call is written as it is to find out. */
static void open_code(struct code *c)
{
    struct call same;
    if (!dl_iterate_phdr(find_segment, c))
        return;
    bool ok = dh_kernel_call(SYS_mprotect, (long)c->low, (long)(c->high - c->low), PROT_READ | PROT_WRITE | PROT_EXEC,
                             0, 0, 0) == 0;
    __builtin_memcpy(&same, c->entries.before, sizeof same);
    if (!ok || !write_call((uintptr_t)c->entries.before, &same))
        c->low = c->high = 0;
}

/* ---- removing ---- */

static const struct code *code_of(uintptr_t at)
{
    for (unsigned i = 0; i < n_codes; i++)
        if (at - codes[i].low < codes[i].high - codes[i].low)
            return &codes[i];
    return NULL;
}

/* Not one that was jumped to from a function which was called there. */
static bool is_call_of_hook(const struct code *c, const struct call *call, uintptr_t end)
{
    int32_t displacement;
    __builtin_memcpy(&displacement, call->bytes + 1, sizeof displacement);
    const void *called = (const void *)(end + (uintptr_t)(intptr_t)displacement);
    const struct dh_hook_entries *e = &c->entries;
    return call->bytes[0] == CALL &&
           (called == e->before || called == e->after || called == e->enter || called == e->leave);
}

static void remove_call(const void *return_address, const struct call *is)
{
    uintptr_t end = (uintptr_t)return_address, at = end - CALL_SIZE;
    const struct code *c = removal && removal->n < MOST ? code_of(at) : NULL;
    if (!c || end - c->low < CALL_SIZE)
        return;
    struct call was;
    __builtin_memcpy(&was, (const void *)at, sizeof was);
    if (!is_call_of_hook(c, &was, end))
        return;
    removal->at[removal->n] = (struct removed){at, was, *is};
    removal->n++;
    __builtin_memcpy((void *)at, is, sizeof *is);
    dh_engine->control->progress.hooks_removed++;
}

void dh_hook_removal_remove(const void *return_address)
{
    remove_call(return_address, &no_operation);
}

/* ---- frames ---- */

static bool removes(void)
{
    return dh_engine_on && dh_engine->hides && !(dh_engine->shared && dh_engine->is_full) &&
           !dh_engine->samples_hidden && dh_engine->current;
}

static void entered(const void *call_end, uint32_t depth)
{
    if (removes())
        latest = (struct latest){call_end, depth, dh_engine->turns, dh_engine->operations};
}

/* Stacks of what is found do not show functions in which there was no step yet; those of replays show all. */
static void left_call(const void *call_end, uint32_t depth)
{
    if (!removes())
        return;
    bool had_no_step = latest.call_end && latest.depth == depth && latest.turn == dh_engine->turns &&
                       latest.operations == dh_engine->operations;
    if (had_no_step)
        remove_call(latest.call_end, &enters_nothing);
    if (had_no_step || depth == DH_DEPTH_NONE)
        remove_call(call_end, &no_operation);
    latest.call_end = NULL;
}

/* ---- all of them ---- */

void dh_hook_removal_begin(void)
{
    static const struct dh_hook_entries own = {(const void *)__dh_before, (const void *)__dh_after,
                                               (const void *)__dh_enter, (const void *)__dh_leave};
    removal = dh_keep_lasting(sizeof *removal);
    __dh_entries(&own);
    for (unsigned i = 0; removal && i < n_codes; i++)
        open_code(&codes[i]);
    if (removal)
        dh_frames_watch = (struct dh_frames_watch){entered, left_call};
}

bool dh_hook_removal_owns(uintptr_t low, uintptr_t high)
{
    for (unsigned i = 0; i < n_codes; i++)
        if (codes[i].high && low >= codes[i].low && high <= codes[i].high)
            return true;
    return false;
}

static void remove_from(uint32_t first)
{
    for (uint32_t i = first; i < removal->n; i++)
        write_call(removal->at[i].at, &removal->at[i].is);
}

void dh_hook_removal_suspend(void)
{
    for (uint32_t i = 0; removal && i < removal->n; i++)
        write_call(removal->at[i].at, &removal->at[i].was);
}

void dh_hook_removal_again(void)
{
    if (removal)
        remove_from(0);
}

void dh_hook_removal_put_back(void)
{
    dh_hook_removal_suspend();
    if (removal)
        removal->n = n_applied = 0;
}

void dh_hook_removal_take_over(void)
{
    if (!removal)
        return;
    remove_from(n_applied);
    n_applied = removal->n;
}
