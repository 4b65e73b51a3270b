#include "runtime/race/layout.h"

#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/race/shadow.h"

#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>

#define GB ((uintptr_t)1 << 30)
#define LINKER ((uintptr_t)1 << 22) /* more than the size of the dynamic linker, which may be the highest mapping */
#define PAGE ((uintptr_t)4096)
#define AS_IT_IS 0xffffffffL /* asks personality(2) */

#define LARGE_STACK (1024 * GB)
#define THREAD_STACK ((size_t)2 << 20) /* glibc's, where the limit is none */
enum { RANDOMISED = 'r', UNLIMITED = 's' };

static const char mark[] = "DEADHEAT_RESTARTED=";

struct span {
    uintptr_t at;
    size_t size;
};
enum part { EXECUTABLE, HEAP, MAPPINGS, STACK, PARTS };

static struct {
    char **argv, **envp; /* as the kernel passed them */
    struct span part[PARTS];
    bool trusted;
} layout;

extern const char __executable_start[], end[];

/* ---- the parts ---- */

static const uintptr_t rooms[][PARTS] = {
    [DH_GROWTH_GENEROUS] = {[HEAP] = 256 * GB, [MAPPINGS] = 2048 * GB, [STACK] = GB},
    [DH_GROWTH_MINIMAL] = {[HEAP] = 16 * GB, [MAPPINGS] = 64 * GB, [STACK] = GB / 4},
};

/* Mappings follow each other downwards, or upwards where the stack is unlimited; the dynamic linker's is the first. */
static struct span mappings_from(uintptr_t probe, uintptr_t room)
{
    uintptr_t first = getauxval(AT_BASE);
    if (first && probe > first)
        return (struct span){first, probe - first + room};
    uintptr_t top = first > probe ? first : probe, low = probe > room ? probe - room : 0;
    return (struct span){low, top - low + LINKER};
}

static bool find_parts(enum dh_layout_growth room, struct span part[PARTS])
{
    const uintptr_t *more = rooms[room];
    uintptr_t stack = (uintptr_t)layout.argv;
    void *probe = dh_sys_mmap(PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (!probe)
        return false;
    dh_sys_munmap(probe, PAGE);
    part[EXECUTABLE] = (struct span){(uintptr_t)__executable_start, (size_t)(end - __executable_start)};
    part[HEAP] = (struct span){(uintptr_t)dh_syscall3(SYS_brk, 0, 0, 0), more[HEAP]};
    part[MAPPINGS] = mappings_from((uintptr_t)probe, more[MAPPINGS]);
    part[STACK] = (struct span){stack - more[STACK], more[STACK]};
    return true;
}

/* Different addresses with the same cells. Where both really overlap they are the same memory. */
static bool share_cells(struct span a, struct span b)
{
    uintptr_t up = (b.at - a.at) & DH_WINDOW_MASK, down = (a.at - b.at) & DH_WINDOW_MASK;
    return (up < a.size && a.at + up != b.at) || (down < b.size && b.at + down != a.at);
}

static bool overlap(struct span a, struct span b)
{
    return a.at < b.at + b.size && b.at < a.at + a.size;
}

bool dh_layout_fits(enum dh_layout_growth room)
{
    struct span part[PARTS];
    if (!layout.argv || !find_parts(room, part))
        return true;
    for (int i = 0; i < PARTS; i++)
        layout.part[i] = part[i];
    for (int i = 0; i < PARTS; i++)
        for (int k = i + 1; k < PARTS; k++)
            if (share_cells(part[i], part[k]))
                return false;
    return true;
}

/* ---- executing the program again ---- */

static char **copy_of(char **from)
{
    size_t n = 0;
    while (from && from[n])
        n++;
    char **copy = dh_alloc_forever((n + 2) * sizeof *copy); /* and room for the mark */
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = from[i];
    return copy;
}

static void change_personality(bool randomised)
{
    long now = dh_syscall3(SYS_personality, AS_IT_IS, 0, 0), bit = ADDR_NO_RANDOMIZE;
    if (now >= 0)
        dh_syscall3(SYS_personality, randomised ? now & ~bit : now | bit, 0, 0);
}

static bool is_randomised(void)
{
    long now = dh_syscall3(SYS_personality, AS_IT_IS, 0, 0);
    return now >= 0 && !(now & ADDR_NO_RANDOMIZE);
}

static uint64_t stack_limit(void)
{
    struct rlimit limit;
    return dh_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) ? 0 : limit.rlim_cur;
}

static void limit_stack(uint64_t size)
{
    struct rlimit limit;
    if (dh_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) == 0) {
        limit.rlim_cur = size;
        dh_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, (long)&limit, 0, 0, 0);
    }
}

/* libc has used the limit as the size of threads' stacks. */
static void unlimit_stack(void)
{
    pthread_attr_t attr;
    limit_stack(RLIM_INFINITY);
    if (pthread_getattr_default_np(&attr) != 0)
        return;
    if (pthread_attr_setstacksize(&attr, THREAD_STACK) == 0)
        pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

/* The mark says what was changed; it is undone for the program and its children. */
static void take_mark(char **envp)
{
    for (; envp && *envp; envp++) {
        const char *changed = dh_text_after(*envp, mark);
        if (!changed)
            continue;
        dh_process.restarted = true;
        if (changed[0] == RANDOMISED)
            change_personality(true);
        if (changed[0] && changed[1] == UNLIMITED)
            unlimit_stack();
        for (char **at = envp; *at; at++)
            at[0] = at[1];
        return;
    }
}

void dh_layout_begin(char **argv, char **envp, bool trusted)
{
    layout.argv = argv;
    layout.trusted = trusted;
    if (!trusted)
        return;
    take_mark(envp);
    layout.envp = copy_of(envp);
}

/* The program is an argument of the dynamic linker, which would be executed instead. */
static bool is_argument(void)
{
    extern const ElfW(Ehdr) __ehdr_start;
    const ElfW(Phdr) *p = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    for (int i = 0; i < __ehdr_start.e_phnum; i++)
        if (p[i].p_type == PT_INTERP)
            return !getauxval(AT_BASE);
    return false;
}

/* Under an unlimited stack the kernel puts mappings low, as far from the stack as it can: a large limit will do. */
void dh_layout_restart(void)
{
    static char marked[] = "DEADHEAT_RESTARTED=--";
    bool randomised = is_randomised(), unlimited = stack_limit() > LARGE_STACK;
    if (dh_process.restarted || !layout.trusted || !layout.envp || !dh_process.path || is_argument() ||
        !(randomised || unlimited))
        return;
    size_t n = 0;
    while (layout.envp[n])
        n++;
    if (randomised) {
        marked[sizeof mark - 1] = RANDOMISED;
        change_personality(false);
    }
    if (unlimited) {
        marked[sizeof mark] = UNLIMITED;
        limit_stack(LARGE_STACK);
    }
    layout.envp[n] = marked;
    dh_sys_execve(dh_process.path, layout.argv, layout.envp);
    layout.envp[n] = NULL;
    if (randomised)
        change_personality(true);
    if (unlimited)
        limit_stack(RLIM_INFINITY);
}

/* ---- mappings at addresses that the program chose ---- */

bool dh_layout_may_map(const void *at, size_t size)
{
    static bool printed;
    struct span wanted = {(uintptr_t)at, size}, ours = {DH_BLOCKS_BASE, DH_BLOCKS_SIZE + DH_SHADOW_SIZE};
    if (!layout.part[STACK].size || !overlap(wanted, ours))
        return true;
    if (!__atomic_exchange_n(&printed, true, __ATOMIC_RELAXED))
        dh_print("deadheat: the program wants to map %lu bytes at %p, where the detector's tables are: it is told that "
                 "there is no memory\n",
                 (unsigned long)size, at);
    return false;
}

void dh_layout_mapped(const void *at, size_t size)
{
    static bool printed;
    static const char *const names[] = {"the executable", "the heap", "libraries and mappings", "the main stack"};
    struct span fresh = {(uintptr_t)at, size};
    if (!layout.part[STACK].size || overlap(fresh, layout.part[MAPPINGS]))
        return;
    for (int i = 0; i < PARTS; i++)
        if (share_cells(fresh, layout.part[i]) && !__atomic_exchange_n(&printed, true, __ATOMIC_RELAXED))
            dh_print("deadheat: the program's mapping of %lu bytes at %p is not told apart from %s: findings there may "
                     "be wrong or missing\n",
                     (unsigned long)size, at, names[i]);
}
