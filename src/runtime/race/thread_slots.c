#include "runtime/race/thread_slots.h"

#include "runtime/platform/bytes.h"
#include "runtime/platform/spin.h"
#include "runtime/race/shadow.h"
#include "runtime/report/report.h"

#include <link.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

enum { REMEMBERED = 4, PATIENCE = 100, ATTEMPTS = 5000, PAUSE_NS = 1000000, ALONE_PAUSES = 20000 };

struct use {
    uint32_t from; /* clock at which it began */
    uint32_t thread;
    struct dh_race_state *state;
};

struct slot {
    uint32_t clock;               /* last one used */
    struct dh_race_state *holder; /* NULL = free */
    uint64_t changed;             /* number of its last acquisition or release */
    struct use use[REMEMBERED];   /* newest first */
};

static struct slot slots[DH_LAST_SLOT + 1];
static dh_spin lock = DH_SPIN_INIT(DH_RANK_RACE_SLOTS);
static uint64_t n_changes;
static uint32_t generation = 1;
static uint32_t n_merged; /* times a thread acquired a slot whose last thread was not ordered before */
static struct dh_race_state *free_states;
static bool can_interrupt; /* membarrier works: running threads can be made to see a flag */
uint32_t dh_slot_clock_limit = DH_CLOCK_MAX - 1;

static long membarrier(int command)
{
    return dh_syscall3(SYS_membarrier, command, 0, 0);
}

void dh_slots_init(uint32_t clock_limit)
{
    if (clock_limit && clock_limit < DH_CLOCK_MAX - 1)
        dh_slot_clock_limit = clock_limit;
    can_interrupt = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

uint32_t dh_slots_generation(void)
{
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

uint32_t dh_slots_merged(void)
{
    return __atomic_load_n(&n_merged, __ATOMIC_RELAXED);
}

/* ---- holders of a slot by time ---- */

static void release_locked(struct dh_race_state *s)
{
    if (!s || --s->references)
        return;
    dh_history_release(&s->history);
    s->next_free = free_states;
    free_states = s;
}

struct dh_race_state *dh_race_state_new(void)
{
    dh_spin_lock(&lock);
    struct dh_race_state *s = free_states;
    if (s)
        free_states = s->next_free;
    dh_spin_unlock(&lock);
    if (!s) /* zeroed, and the filter's pages on demand */
        return dh_sys_mmap(sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    uint64_t stamp = s->stamp, known_stamp = s->known_stamp;
    dh_bytes_zero(s, offsetof(struct dh_race_state, filter));
    s->stamp = stamp;
    s->known_stamp = known_stamp;
    return s;
}

void dh_race_state_release(struct dh_race_state *s)
{
    dh_spin_lock(&lock);
    release_locked(s);
    dh_spin_unlock(&lock);
}

static void remember(struct slot *slot, struct dh_race_state *s)
{
    release_locked(slot->use[REMEMBERED - 1].state);
    for (int i = REMEMBERED - 1; i > 0; i--)
        slot->use[i] = slot->use[i - 1];
    s->references++;
    slot->use[0] = (struct use){slot->clock, s->index, s};
}

struct dh_race_state *dh_slot_holder_at(uint32_t time, uint32_t *thread)
{
    struct dh_race_state *found = NULL;
    unsigned n = dh_epoch_slot(time);
    *thread = UINT32_MAX;
    if (n > DH_LAST_SLOT)
        return NULL;
    dh_spin_lock(&lock);
    for (int i = 0; i < REMEMBERED && !found; i++) {
        struct use *u = &slots[n].use[i];
        if (u->state && u->from <= dh_epoch_clock(time)) {
            found = u->state;
            *thread = u->thread;
            found->references++;
        }
    }
    dh_spin_unlock(&lock);
    return found;
}

/* ---- acquiring ---- */

static uint32_t last_serial; /* under the lock */

static bool is_exhausted(const struct slot *slot)
{
    return slot->clock + 1 >= dh_slot_clock_limit;
}

/* Best is a free slot whose last epoch happens before the thread: no accesses are merged. Else the one free for
 * longest. Short-lived threads rotate among the first few, which keeps vector clocks short; more than one, since a slot
 * remembers only its last threads. */
static int find_free(const struct dh_race_state *s)
{
    enum { FEW = 32 };
    int best = -1;
    bool best_known = false;
    for (int i = 1; i <= DH_LAST_SLOT; i++) { /* 0 stays free: an empty cell looks like slot 0, clock 0 */
        if (slots[i].holder || is_exhausted(&slots[i]))
            continue;
        bool known = slots[i].clock <= dh_vclock_get(&s->t.clock, (unsigned)i);
        if (best < 0 || known > best_known || (known == best_known && slots[i].changed < slots[best].changed)) {
            best = i;
            best_known = known;
        }
        if (known && !slots[i].clock)
            break; /* never used, as all after it */
        if (best_known && i >= FEW)
            break;
    }
    return best;
}

/* From a blocked thread: it reads `blocked` before it enters the detector again. */
static bool borrow_from_blocked(struct dh_race_state *s)
{
    uint8_t blocked = DH_RACE_BLOCKED;
    return atomic_compare_exchange_strong(&s->gate.blocked, &blocked, DH_RACE_BLOCKED_BORROWED);
}

/* From a running thread, by an asymmetric barrier: it sees `borrowed` the next time it enters the detector. If it is
 * inside, it may wait for the lock held here: another slot will do. */
static bool borrow_from_running(struct dh_race_state *s)
{
    if (!can_interrupt || dh_report_is_sandboxed() || atomic_load(&s->gate.blocked) != DH_RACE_RUNNING ||
        __atomic_load_n(&s->gate.busy, __ATOMIC_ACQUIRE))
        return false;
    atomic_store(&s->gate.borrowed, 1);
    __atomic_store_n(&s->tls->own, DH_OWN_BORROWED, __ATOMIC_SEQ_CST);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (int n = 0; __atomic_load_n(&s->gate.busy, __ATOMIC_ACQUIRE); n++) {
        if (n == PATIENCE) {
            atomic_store(&s->gate.borrowed, 0); /* `own` comes back with its next epoch */
            return false;
        }
        __builtin_ia32_pause();
    }
    return true;
}

/* An epoch without accesses is reused: threads that joined this one acquired all before it. As it will be another
 * thread's, it is removed from this thread's clock, too. */
static void detach_slot(struct slot *slot)
{
    struct dh_race_state *s = slot->holder;
    slot->clock = dh_epoch_clock(s->t.time) - !s->t.dirty;
    dh_vclock_set(&s->t.clock, (unsigned)(slot - slots), slot->clock);
    slot->holder = NULL;
}

static int borrow_slot(bool (*borrow_from)(struct dh_race_state *))
{
    uint64_t before = UINT64_MAX;
    for (;;) { /* longest holder first */
        int best = -1;
        for (int i = 1; i <= DH_LAST_SLOT; i++)
            if (slots[i].holder && !is_exhausted(&slots[i]) && (best < 0 || slots[i].changed < slots[best].changed) &&
                (before == UINT64_MAX || slots[i].changed > before))
                best = i;
        if (best < 0)
            return -1;
        if (borrow_from(slots[best].holder)) {
            detach_slot(&slots[best]);
            return best;
        }
        before = slots[best].changed;
    }
}

static bool all_exhausted(void)
{
    for (int i = 1; i <= DH_LAST_SLOT; i++)
        if (!is_exhausted(&slots[i]))
            return false;
    return true;
}

/* All threads lose their slots, all cells are cleared, all clocks begin at 0. False: a running thread did not give way
 * in time; the next acquisition tries again. */
static bool reset_all(struct dh_race_state *self)
{
    for (int i = 1; i <= DH_LAST_SLOT; i++) {
        struct dh_race_state *s = slots[i].holder;
        if (s && s != self && !borrow_from_blocked(s) && !borrow_from_running(s))
            return false;
        if (s)
            detach_slot(&slots[i]); /* even if a later one fails: no thread may use these epochs again */
    }
    for (int i = 1; i <= DH_LAST_SLOT; i++) {
        for (int k = 0; k < REMEMBERED; k++)
            release_locked(slots[i].use[k].state);
        slots[i] = (struct slot){0};
    }
    dh_shadow_discard_all();
    dh_race_reset(&dh_race_tables);
    __atomic_store_n(&generation, generation + 1, __ATOMIC_RELEASE);
    return true;
}

static void join_generation(struct dh_race_state *s)
{
    if (s->generation == generation)
        return;
    s->generation = generation;
    dh_bytes_zero(&s->t.clock, sizeof s->t.clock);
    s->fences.has_acquire = s->fences.has_release = false;
    if (dh_race_history_room(s, 1))
        dh_history_add(&s->history, dh_history_meta(DH_META_RESET, 0));
}

/* A borrower may have given up after the thread saw `borrowed`. Holding the old slot besides the new one would leak it,
 * and prevent every reset. */
static void release_old(struct dh_race_state *s)
{
    struct slot *old = &slots[dh_epoch_slot(s->t.time)];
    if (old->holder == s)
        detach_slot(old);
}

static bool try_to_acquire(struct dh_race_state *s)
{
    dh_spin_lock(&lock);
    release_old(s);
    if (all_exhausted())
        reset_all(s);
    join_generation(s);
    int i = find_free(s);
    if (i < 0)
        i = borrow_slot(borrow_from_blocked);
    if (i < 0)
        i = borrow_slot(borrow_from_running);
    if (i >= 0) {
        struct slot *slot = &slots[i];
        if (slot->clock > dh_vclock_get(&s->t.clock, (unsigned)i))
            __atomic_store_n(&n_merged, n_merged + 1, __ATOMIC_RELAXED);
        slot->clock++;
        slot->holder = s;
        slot->changed = ++n_changes;
        remember(slot, s);
        s->t.time = dh_epoch((unsigned)i, slot->clock);
        s->t.serial = ++last_serial;
        s->t.dirty = false;
        dh_vclock_set(&s->t.clock, (unsigned)i, slot->clock);
        atomic_store(&s->gate.borrowed, 0);
    }
    dh_spin_unlock(&lock);
    return i >= 0;
}

static void pause_before_retry(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (dh_report_is_sandboxed())
        for (int i = 0; i < ALONE_PAUSES; i++)
            __builtin_ia32_pause();
    else
        dh_syscall3(SYS_nanosleep, (long)&pause, 0, 0);
}

/* A holder runs, so that its slot can be borrowed, or is in the detector for a moment only. Continuing without a slot
 * would lose the edge that the call makes. */
bool dh_slot_acquire(struct dh_race_state *s)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (try_to_acquire(s))
            return true;
        pause_before_retry();
    }
    return false;
}

void dh_slot_release(struct dh_race_state *s)
{
    dh_spin_lock(&lock);
    struct slot *slot = &slots[dh_epoch_slot(s->t.time)];
    if (slot->holder == s) {
        detach_slot(slot);
        slot->changed = ++n_changes;
    }
    dh_spin_unlock(&lock);
}

/* From the executable's program headers. */
size_t dh_slot_tls_size(void)
{
    extern const ElfW(Ehdr) __ehdr_start;
    const ElfW(Phdr) *p = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    for (int i = 0; i < __ehdr_start.e_phnum; i++)
        if (p[i].p_type == PT_TLS)
            return (p[i].p_memsz + p[i].p_align - 1) / p[i].p_align * p[i].p_align;
    return 0;
}

bool dh_slot_thread_memory(unsigned i, struct dh_thread_memory *out)
{
    dh_spin_lock(&lock);
    const struct dh_race_state *s = NULL;
    for (int k = 1; k <= DH_LAST_SLOT && !s; k++)
        if (slots[k].holder && i-- == 0)
            s = slots[k].holder;
    if (s)
        *out = (struct dh_thread_memory){s->index, s->tls->stack_low, s->tls->stack_high,
                                         s->thread_pointer - dh_slot_tls_size(), s->thread_pointer};
    dh_spin_unlock(&lock);
    return s;
}

void dh_slots_forked(struct dh_race_state *survivor)
{
    dh_spin_forked(&lock);
    for (int i = 1; i <= DH_LAST_SLOT; i++)
        if (slots[i].holder && slots[i].holder != survivor)
            detach_slot(&slots[i]);
    can_interrupt = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}
