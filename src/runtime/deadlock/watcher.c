/* The watcher: a thread that checks, every few milliseconds while a thread waits, whether any can still end the wait.
 * Not one of libc's, so that a process whose main thread has left by pthread_exit ends with its last thread; it has no
 * thread-local storage but zeroes, runs no code of the program's and takes no signals. It checks from outside, when
 * the threads are really asleep: one that is about to wait cannot know whether another that was woken has noticed. */
#include "event/finding_log.h"
#include "runtime/core/options.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/deadlock/state.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    STACK = 256 << 10,
    STORAGE = 1 << 20, /* thread-local: the executable's lies below the thread pointer */
    PATH_MOST = 64,    /* threads of a cycle */
    STUCK_MOST = 4096,
    STEADY_TICKS = 3 /* before it is asked whether everybody sleeps */
};

static struct {
    _Atomic int begun;
    _Atomic int tid; /* 0 when it is gone: the kernel clears it */
    _Atomic int stop, asleep, bell;
    uint8_t *memory;
} watcher;

static struct dh_deadlock_thread *path[PATH_MOST];
static uint64_t last_mark;

/* ---- cycles of locks and joins ---- */

static bool waits_for_lock(const struct dh_deadlock_thread *b)
{
    return b->role == DH_ROLE_LOCK_WAIT || b->role == DH_ROLE_RDLOCK_WAIT;
}

static bool waits_for(const struct dh_deadlock_thread *b, const struct dh_deadlock_thread *other)
{
    if (b->role == DH_ROLE_JOIN)
        return other->handle == b->object;
    return waits_for_lock(b) && !dh_deadlock_has_unknown_owner(b->object) &&
           dh_deadlock_holds(other, b->object, b->role == DH_ROLE_RDLOCK_WAIT);
}

/* Fills `path` from its first on; answers how long the cycle is. */
static unsigned follow(unsigned n)
{
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next) {
        if (!atomic_load(&b->used) || !waits_for(path[n - 1], b))
            continue;
        if (b == path[0])
            return n;
        if (n == PATH_MOST || b->mark == last_mark || !dh_deadlock_still_waits(b))
            continue;
        b->mark = last_mark;
        path[n] = b;
        unsigned length = follow(n + 1);
        if (length)
            return length;
    }
    return 0;
}

/* All of them were in their waits since the look before, so none gave or got anything in between. */
static bool are_steady(struct dh_deadlock_thread *const *waiters, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!dh_deadlock_still_waits(waiters[i]))
            return false;
    return true;
}

/* A thread that waits for itself may yet be helped by one that unlocks what is not its own. */
static void look_for_cycle(struct dh_deadlock_thread *b)
{
    if (!waits_for_lock(b) && b->role != DH_ROLE_JOIN)
        return;
    last_mark++;
    path[0] = b;
    unsigned n = follow(1);
    if (n > 1 && are_steady(path, n))
        dh_deadlock_report_cycle(path, n);
}

/* ---- everybody waits ---- */

static struct dh_deadlock_thread *stuck[STUCK_MOST];

static long read_file(const char *name, char *out, size_t n)
{
    long fd = dh_sys_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    long got = dh_syscall3(SYS_read, fd, (long)out, (long)n - 1);
    dh_sys_close((int)fd);
    out[got > 0 ? got : 0] = 0;
    return got;
}

/* As the kernel's stat has it, behind the name, which may hold anything. '?' when it is not to be had. */
static char state_of(int tid)
{
    char name[64], text[512];
    dh_print_text(name, sizeof name, "/proc/self/task/%d/stat", tid);
    long n = read_file(name, text, sizeof text);
    while (n > 0 && text[n - 1] != ')')
        n--;
    return n > 0 && text[n] == ' ' ? text[n + 1] : '?';
}

static struct dh_deadlock_thread *waiting_thread(int tid)
{
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next)
        if (atomic_load(&b->used) && b->tid == tid && dh_deadlock_still_waits(b))
            return b;
    return NULL;
}

/* One that is none of ours, or is awake, may do anything. Those that have ended do nothing. */
static bool is_out(int tid, unsigned *n)
{
    char state = state_of(tid);
    if (tid == atomic_load(&watcher.tid) || state == 'Z' || state == 'X')
        return true;
    struct dh_deadlock_thread *b = state == 'S' ? waiting_thread(tid) : NULL;
    if (!b || *n == STUCK_MOST)
        return false;
    stuck[(*n)++] = b;
    return true;
}

struct entry { /* linux_dirent64 */
    uint64_t inode, offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

static int number_of(const char *text)
{
    int n = 0;
    for (; *text >= '0' && *text <= '9' && n < INT_MAX / 10 - 1; text++)
        n = n * 10 + *text - '0';
    return *text ? 0 : n;
}

/* How many threads there are if all of them wait, else 0. */
static unsigned count_stuck(void)
{
    static char bytes[4096] __attribute__((aligned(8)));
    unsigned n = 0;
    long got = 0, fd = dh_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool all = fd >= 0;
    while (all && (got = dh_syscall3(SYS_getdents64, fd, (long)bytes, sizeof bytes)) > 0)
        for (long at = 0; all && at < got;) {
            const struct entry *e = (const void *)(bytes + at);
            int tid = number_of(e->name);
            all = !tid || is_out(tid, &n);
            at += e->size;
        }
    if (fd >= 0)
        dh_sys_close((int)fd);
    return all && got == 0 ? n : 0;
}

/* Whether the program handles signals that come from outside: its handler may post a semaphore, or signal. */
static bool handles_signals(void)
{
    static const int inside[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGTRAP,
                                 SIGABRT, SIGSYS, SIGPIPE, 32,     33 /* libc's own */};
    static char text[4096];
    static const char label[] = "\nSigCgt:\t";
    uint64_t caught = 0;
    if (read_file("/proc/self/status", text, sizeof text) <= 0)
        return true;
    const char *at = text;
    while (*at && !dh_text_after(at, label))
        at++;
    if (!*at)
        return true;
    for (at += sizeof label - 1; *at && *at != '\n'; at++)
        caught = caught << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    for (unsigned i = 0; i < sizeof inside / sizeof *inside; i++)
        caught &= ~((uint64_t)1 << (inside[i] - 1));
    return caught != 0;
}

static bool may_be_woken_by_handler(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (stuck[i]->role == DH_ROLE_COND_WAIT || stuck[i]->role == DH_ROLE_SEM_WAIT)
            return handles_signals();
    return false;
}

/* Looks after which a wait is too long; 0: never. */
static uint32_t hang_ticks(void)
{
    return dh_options.hang_timeout > 0 ? 1000u / DH_DEADLOCK_TICK_MS * (uint32_t)dh_options.hang_timeout : 0;
}

static bool is_hang(const struct dh_deadlock_thread *b)
{
    return hang_ticks() && b->ticks >= hang_ticks();
}

static void look_for_stuck(void)
{
    struct timespec moment = {.tv_nsec = DH_DEADLOCK_TICK_MS * 1000000L};
    unsigned n = count_stuck();
    if (!n)
        return;
    bool sure = !may_be_woken_by_handler(n);
    for (unsigned i = 0; i < n; i++)
        if (!sure && !is_hang(stuck[i]))
            return;
    /* Once more: a thread that was just about to be woken is awake by now. */
    dh_syscall3(SYS_nanosleep, (long)&moment, 0, 0);
    if (count_stuck() == n && are_steady(stuck, n))
        dh_deadlock_report_stuck(stuck, n, sure);
}

/* ---- one look ---- */

static bool is_power(uint32_t n)
{
    return !(n & (n - 1));
}

/* False: no thread waits. */
static bool look_for_deadlock(void)
{
    bool some = false, all = true;
    uint32_t least = UINT32_MAX;
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next) {
        if (!atomic_load(&b->used))
            continue;
        uint64_t sequence = atomic_load(&b->sequence);
        b->ticks = sequence & 1 && sequence == b->seen ? b->ticks + 1 : 0;
        b->seen = sequence;
        some = some || sequence & 1;
        all = all && sequence & 1;
        least = b->ticks < least ? b->ticks : least;
    }
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next) {
        if (!atomic_load(&b->used) || !b->ticks)
            continue;
        if (is_power(b->ticks))
            look_for_cycle(b);
        if (waits_for_lock(b) && b->ticks == hang_ticks())
            dh_deadlock_report_hang(b, b->ticks * DH_DEADLOCK_TICK_MS / 1000);
    }
    if (some && all && least >= STEADY_TICKS && (least == STEADY_TICKS || is_power(least) || least == hang_ticks()))
        look_for_stuck();
    return some;
}

/* ---- the thread ---- */

static void sleep_until_called(void)
{
    int bell = atomic_load(&watcher.bell);
    atomic_store(&watcher.asleep, 1);
    bool some = false;
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next)
        some = some || atomic_load(&b->sequence) & 1;
    if (!some && !atomic_load(&watcher.stop))
        dh_syscall6(SYS_futex, (long)&watcher.bell, FUTEX_WAIT_PRIVATE, bell, 0, 0, 0);
    atomic_store(&watcher.asleep, 0);
}

static void call_watcher(void)
{
    atomic_fetch_add(&watcher.bell, 1);
    dh_syscall6(SYS_futex, (long)&watcher.bell, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

__attribute__((noreturn)) static void watch(void)
{
    struct timespec tick = {.tv_nsec = DH_DEADLOCK_TICK_MS * 1000000L};
    dh_sys_prctl(PR_SET_NAME, (unsigned long)"deadheat");
    while (!atomic_load(&watcher.stop)) {
        dh_syscall3(SYS_nanosleep, (long)&tick, 0, 0);
        if (!look_for_deadlock())
            sleep_until_called();
    }
    for (;;)
        dh_syscall3(SYS_exit, 0, 0, 0);
}

static long clone_watcher(void)
{
    const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    uintptr_t *storage = (uintptr_t *)(watcher.memory + STACK + STORAGE / 2);
    storage[0] = storage[2] = (uintptr_t)storage; /* as libc's: the thread pointer points to itself */
    register long r10 __asm__("r10") = (long)&watcher.tid;
    register long r8 __asm__("r8") = (long)storage;
    register void (*r12)(void) __asm__("r12") = watch;
    long result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%%r12\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"(SYS_clone), "D"(flags), "S"(watcher.memory + STACK), "d"(&watcher.tid), "r"(r10), "r"(r8),
                       "r"(r12)
                     : "rcx", "r11", "memory");
    return result;
}

static void start_watcher(void)
{
    uint64_t all = ~(uint64_t)0, mask;
    if (!watcher.memory)
        watcher.memory =
            dh_sys_mmap(STACK + STORAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!watcher.memory)
        return;
    dh_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, sizeof all, 0, 0);
    clone_watcher();
    dh_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

void dh_deadlock_watch(void)
{
    if (!atomic_load_explicit(&watcher.begun, memory_order_relaxed) && !atomic_exchange(&watcher.begun, 1))
        start_watcher();
    else if (atomic_load(&watcher.asleep))
        call_watcher();
}

void dh_deadlock_watch_forked(void)
{
    /* Its memory was copied, but nothing runs on it. */
    atomic_store(&watcher.tid, 0);
    atomic_store(&watcher.asleep, 0);
    atomic_store(&watcher.begun, atomic_load(&watcher.stop));
    if (watcher.memory)
        dh_bytes_zero(watcher.memory + STACK + STORAGE / 2, sizeof(uintptr_t) * 3);
}

void dh_deadlock_stop(void)
{
    if (!dh_deadlock_on)
        return;
    dh_deadlock_on = false;
    atomic_store(&watcher.stop, 1);
    if (!atomic_exchange(&watcher.begun, 1))
        return;
    call_watcher();
    for (int tid; (tid = atomic_load(&watcher.tid));)
        dh_syscall6(SYS_futex, (long)&watcher.tid, FUTEX_WAIT, tid, 0, 0, 0);
}
