/* Services of healing in a production build, without the rest of the runtime: biased locks on futexes. */
#include "runtime/heal/heal.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((weak)) const char __dh_heal_policy[] = "";
__attribute__((weak)) const uint64_t __dh_heal_per_object = 0;

static int patience = 2000;
static bool prints_counters, may_bias;

void *dh_heal_allocate(size_t size)
{
    return calloc(1, size);
}

void dh_heal_print(const char *text)
{
    dprintf(2, "deadheat: process %d: %s\n", (int)getpid(), text);
}

int dh_heal_patience_ms(void)
{
    return patience;
}

static long futex(struct dh_heal_lock *l, int what, uint32_t value, const struct timespec *until)
{
    return syscall(SYS_futex, &l->word, what | FUTEX_PRIVATE_FLAG, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static bool barrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void dh_heal_lock_init(struct dh_heal_lock *l)
{
    *l = (struct dh_heal_lock){.biased_to = may_bias ? 0 : DH_HEAL_UNBIASED};
}

/* Waits until the owner of the bias is out. */
static bool wait_for_owner(struct dh_heal_lock *l)
{
    enum { SPINS = 100, NAP = 20000 /* ns */ };
    long naps = (long)patience * (1000000 / NAP);
    for (long i = -SPINS; atomic_load_explicit(&l->inside, memory_order_acquire); i++) {
        if (i == naps)
            return false;
        if (i < 0)
            __builtin_ia32_pause();
        else
            dh_heal_sleep(NAP);
    }
    return true;
}

int dh_heal_lock_revoke_bias(struct dh_heal_lock *l)
{
    int before = errno;
    uintptr_t nobody = 0;
    if (atomic_compare_exchange_strong(&l->biased_to, &nobody, (uintptr_t)__builtin_thread_pointer()))
        return 0; /* held by the word this time */
    atomic_store(&l->shared, true);
    if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) && barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
        barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    bool out = wait_for_owner(l);
    if (out)
        atomic_store_explicit(&l->biased_to, DH_HEAL_UNBIASED, memory_order_release);
    else
        dh_heal_lock_release(l, 0);
    errno = before;
    return out ? 0 : EBUSY;
}

/* After a wait the word stays at 2: there may be other waiters. */
int dh_heal_lock_acquire(struct dh_heal_lock *l, const struct timespec *until, uint32_t place)
{
    int before = errno, result = 0;
    (void)place;
    while (result == 0 && atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0)
        if (futex(l, FUTEX_WAIT_BITSET, 2, until) != 0 && errno == ETIMEDOUT)
            result = ETIMEDOUT;
    if (result == 0 && atomic_load_explicit(&l->biased_to, memory_order_relaxed) != DH_HEAL_UNBIASED &&
        dh_heal_lock_revoke_bias(l) != 0)
        result = ETIMEDOUT;
    errno = before;
    return result;
}

void dh_heal_lock_wake(struct dh_heal_lock *l)
{
    int before = errno;
    futex(l, FUTEX_WAKE, 1, NULL);
    errno = before;
}

bool dh_heal_is_auto(void)
{
    return false;
}

void dh_heal_force_slow_path(void)
{
}

void dh_heal_record_healed(const char *group)
{
    (void)group;
}

void dh_heal_record_failure(const char *group)
{
    (void)group;
}

void dh_heal_now(struct timespec *t)
{
    clock_gettime(CLOCK_MONOTONIC, t);
}

bool dh_heal_make_key(pthread_key_t *key, void (*destructor)(void *))
{
    return pthread_key_create(key, destructor) == 0;
}

void dh_heal_sleep(long nanoseconds)
{
    struct timespec t = {0, nanoseconds};
    if (nanoseconds)
        nanosleep(&t, NULL);
    else
        sched_yield();
}

/* The options of DEADHEAT_OPTIONS that apply to production builds. */
static void read_options(const char *text)
{
    static const char patience_key[] = "heal_patience_ms=", monitor_key[] = "heal_monitor=";
    for (const char *at = text; at && *at; at += strcspn(at, ":, "), at += *at != 0) {
        if (strncmp(at, patience_key, sizeof patience_key - 1) == 0)
            patience = atoi(at + sizeof patience_key - 1);
        else if (strncmp(at, monitor_key, sizeof monitor_key - 1) == 0)
            prints_counters = at[sizeof monitor_key - 1] == '1';
    }
    if (patience < 1)
        patience = 1;
}

static void finish(void)
{
    if (prints_counters)
        dh_heal_print_counts();
}

static void start(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv;
    static const char key[] = "DEADHEAT_OPTIONS=";
    for (; *envp; envp++)
        if (strncmp(*envp, key, sizeof key - 1) == 0)
            read_options(*envp + sizeof key - 1);
    may_bias = barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    dh_heal_start();
    pthread_atfork(NULL, NULL, dh_heal_forked);
    atexit(finish);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = start;
