#include "runtime/race/thread_slots.h"

#include "runtime/core/bytes.h"
#include "runtime/core/spin.h"
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
    uint32_t clock;             /* last one used */
    struct dh_race_state *user; /* NULL = free */
    uint64_t given;             /* when it was last taken or given, by order */
    struct use use[REMEMBERED]; /* newest first */
};

static struct slot slots[DH_LAST_SLOT + 1];
static dh_spin lock = DH_SPIN_INIT;
static uint64_t order;
static uint32_t generation = 1;
static uint32_t n_shared; /* times a thread went on with a slot whose past it did not know */
static struct dh_race_state *free_states;
static bool can_interrupt; /* threads that run can be made to notice */
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

uint32_t dh_slots_shared(void)
{
    return __atomic_load_n(&n_shared, __ATOMIC_RELAXED);
}

/* ---- who had a slot when ---- */

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
    if (!s) /* zero, and the filter's pages are there when they are used */
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

struct dh_race_state *dh_slot_user_at(uint32_t time, uint32_t *thread)
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

/* ---- taking ---- */

static uint32_t last_serial; /* under the lock */

static bool is_spent(const struct slot *slot)
{
    return slot->clock + 1 >= dh_slot_clock_limit;
}

/* Free slots whose past the thread knows are best: nothing is confused then. Else the one free for longest. The first
 * few go round among threads that come and go, since clocks are as long as slots are many; more than one, since of a
 * slot's past threads only the last are remembered. */
static int find_free(const struct dh_race_state *s)
{
    enum { FEW = 32 };
    int best = -1;
    bool best_known = false;
    for (int i = 1; i <= DH_LAST_SLOT; i++) { /* 0 stays free: an empty cell looks like slot 0, clock 0 */
        if (slots[i].user || is_spent(&slots[i]))
            continue;
        bool known = slots[i].clock <= dh_vclock_get(&s->t.clock, (unsigned)i);
        if (best < 0 || known > best_known || (known == best_known && slots[i].given < slots[best].given)) {
            best = i;
            best_known = known;
        }
        if (known && !slots[i].clock)
            break; /* never used; those behind are, too */
        if (best_known && i >= FEW)
            break;
    }
    return best;
}

/* From a waiting thread: it looks at `blocked` before it does anything again. */
static bool lend_of_blocked(struct dh_race_state *s)
{
    uint8_t blocked = DH_BLOCKED;
    return atomic_compare_exchange_strong(&s->gate.blocked, &blocked, DH_BLOCKED_LENT);
}

/* From a running one: it is made to notice `lent` the next time it enters the detector. If it is inside it may be
 * waiting for the lock that we hold: another one will do. */
static bool lend_of_running(struct dh_race_state *s)
{
    if (!can_interrupt || dh_report_is_alone() || atomic_load(&s->gate.blocked) != DH_RUNS ||
        __atomic_load_n(&s->gate.busy, __ATOMIC_ACQUIRE))
        return false;
    atomic_store(&s->gate.lent, 1);
    __atomic_store_n(&s->tls->own, DH_OWN_LENT, __ATOMIC_SEQ_CST);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (int n = 0; __atomic_load_n(&s->gate.busy, __ATOMIC_ACQUIRE); n++) {
        if (n == PATIENCE) {
            atomic_store(&s->gate.lent, 0); /* `own` comes back with its next epoch */
            return false;
        }
        __builtin_ia32_pause();
    }
    return true;
}

/* An epoch in which nothing was accessed was nobody's: who joined the thread knows all before it. It will be another's,
 * of which the thread itself knows nothing, either. */
static void take_back(struct slot *slot)
{
    struct dh_race_state *s = slot->user;
    slot->clock = dh_epoch_clock(s->t.time) - !s->t.dirty;
    dh_vclock_set(&s->t.clock, (unsigned)(slot - slots), slot->clock);
    slot->user = NULL;
}

static int find_lent(bool (*lend)(struct dh_race_state *))
{
    uint64_t before = UINT64_MAX;
    for (;;) { /* longest holder first */
        int best = -1;
        for (int i = 1; i <= DH_LAST_SLOT; i++)
            if (slots[i].user && !is_spent(&slots[i]) && (best < 0 || slots[i].given < slots[best].given) &&
                (before == UINT64_MAX || slots[i].given > before))
                best = i;
        if (best < 0)
            return -1;
        if (lend(slots[best].user)) {
            take_back(&slots[best]);
            return best;
        }
        before = slots[best].given;
    }
}

static bool all_spent(void)
{
    for (int i = 1; i <= DH_LAST_SLOT; i++)
        if (!is_spent(&slots[i]))
            return false;
    return true;
}

/* All threads lose their slots, every cell is forgotten, all clocks begin at 0. False: some thread could not be stopped
 * in time; tried again at the next occasion. */
static bool begin_world_anew(struct dh_race_state *self)
{
    for (int i = 1; i <= DH_LAST_SLOT; i++) {
        struct dh_race_state *s = slots[i].user;
        if (s && s != self && !lend_of_blocked(s) && !lend_of_running(s))
            return false;
        if (s)
            take_back(&slots[i]); /* should another not be had: nobody may use these times once more */
    }
    for (int i = 1; i <= DH_LAST_SLOT; i++) {
        for (int k = 0; k < REMEMBERED; k++)
            release_locked(slots[i].use[k].state);
        slots[i] = (struct slot){0};
    }
    dh_shadow_drop_all();
    dh_race_reset(&dh_race_world);
    __atomic_store_n(&generation, generation + 1, __ATOMIC_RELEASE);
    return true;
}

static void join_generation(struct dh_race_state *s)
{
    if (s->generation == generation)
        return;
    s->generation = generation;
    dh_bytes_zero(&s->t.clock, sizeof s->t.clock);
    s->has_fence_acquire = s->has_fence_release = false;
    if (dh_race_history_room(s, 1))
        dh_history_add(&s->history, dh_history_meta(DH_META_WORLD, 0));
}

/* Who wanted to lend it may have given up after its thread had seen that it was wanted: kept as well as the new one it
 * would be nobody's, and no world could begin anew. */
static void give_old(struct dh_race_state *s)
{
    struct slot *old = &slots[dh_epoch_slot(s->t.time)];
    if (old->user == s)
        take_back(old);
}

static bool try_to_take(struct dh_race_state *s)
{
    dh_spin_lock(&lock);
    give_old(s);
    if (all_spent())
        begin_world_anew(s);
    join_generation(s);
    int i = find_free(s);
    if (i < 0)
        i = find_lent(lend_of_blocked);
    if (i < 0)
        i = find_lent(lend_of_running);
    if (i >= 0) {
        struct slot *slot = &slots[i];
        if (slot->clock > dh_vclock_get(&s->t.clock, (unsigned)i))
            __atomic_store_n(&n_shared, n_shared + 1, __ATOMIC_RELAXED);
        slot->clock++;
        slot->user = s;
        slot->given = ++order;
        remember(slot, s);
        s->t.time = dh_epoch((unsigned)i, slot->clock);
        s->t.serial = ++last_serial;
        s->t.dirty = false;
        dh_vclock_set(&s->t.clock, (unsigned)i, slot->clock);
        atomic_store(&s->gate.lent, 0);
    }
    dh_spin_unlock(&lock);
    return i >= 0;
}

static void rest(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (dh_report_is_alone())
        for (int i = 0; i < ALONE_PAUSES; i++)
            __builtin_ia32_pause();
    else
        dh_syscall3(SYS_nanosleep, (long)&pause, 0, 0);
}

/* Whoever has one is running, and thus can be asked for it, or in the detector for a moment only. Going on without
 * would lose the order that the call is about to make. */
bool dh_slot_take(struct dh_race_state *s)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (try_to_take(s))
            return true;
        rest();
    }
    return false;
}

void dh_slot_give(struct dh_race_state *s)
{
    dh_spin_lock(&lock);
    struct slot *slot = &slots[dh_epoch_slot(s->t.time)];
    if (slot->user == s) {
        take_back(slot);
        slot->given = ++order;
    }
    dh_spin_unlock(&lock);
}

/* As the executable's program headers say. */
size_t dh_slot_tls_size(void)
{
    extern const ElfW(Ehdr) __ehdr_start;
    const ElfW(Phdr) *p = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    for (int i = 0; i < __ehdr_start.e_phnum; i++)
        if (p[i].p_type == PT_TLS)
            return (p[i].p_memsz + p[i].p_align - 1) / p[i].p_align * p[i].p_align;
    return 0;
}

bool dh_slot_thread_place(unsigned i, struct dh_thread_place *out)
{
    dh_spin_lock(&lock);
    const struct dh_race_state *s = NULL;
    for (int k = 1; k <= DH_LAST_SLOT && !s; k++)
        if (slots[k].user && i-- == 0)
            s = slots[k].user;
    if (s)
        *out = (struct dh_thread_place){s->index, s->tls->stack_low, s->tls->stack_high,
                                        s->thread_pointer - dh_slot_tls_size(), s->thread_pointer};
    dh_spin_unlock(&lock);
    return s;
}

void dh_slots_forked(struct dh_race_state *survivor)
{
    atomic_flag_clear(&lock);
    for (int i = 1; i <= DH_LAST_SLOT; i++)
        if (slots[i].user && slots[i].user != survivor)
            take_back(&slots[i]);
    can_interrupt = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}
