/* Healing: makes sections atomic by a lock for each group (001 §2: the healing lock) or for each object of the group,
 * by yielding to threads that are inside (schedule), or by waiting for an event that must come first (order). If a lock
 * makes no progress for too long, the group is given up for the rest of the run: the program has its bug back, but does
 * not hang because of healing. */
#include "runtime/core/public_hooks.h"

#include "base/hash.h"
#include "runtime/heal/heal.h"

enum {
    OPEN_AT_ONCE = 32,
    LOOKS = 20,
    SPINS = 100,
    TURNS = 16,
    NAPS = 5,
    NAP = 16000 /* ns */,
    AWAIT_NAP = 50000,
    TURN_NAP = 20000,
    TURN_NAPS = 2000, /* 40 ms */
    TURNS_MISSED = 5,
    SLOTS = 64,         /* locks of a group that has one for each object, by hash of its address */
    MOST_BY_OBJECT = 7, /* groups with a lock for each object; further groups have one lock */
    MOST_LOCKS = DH_HEAL_MOST_GROUPS - MOST_BY_OBJECT + MOST_BY_OBJECT * SLOTS
};

struct heal_thread;

/* In cache lines of its own, against false sharing between threads at different objects. */
struct lock {
    struct dh_heal_lock at;
    uint32_t in_a_row;  /* acquisitions by the last owner while others waited; written by the holder, as `last` */
    uint32_t contended; /* waits for it; written by the holder, too */
    /* The last owner; while its group is dormant, the thread that is in a section. */
    const struct heal_thread *_Atomic last;
    _Atomic uint64_t hurdles;  /* not 0: no fast path. Number of waiting threads, and from bit WHY the group's state */
    _Atomic bool in_section;   /* it is held for a section, not a single access */
    uint32_t kept_out;         /* waits for a holder that was in a section */
    _Atomic uint64_t acquired; /* acquisitions, but for the first lock of a fast section */
    _Atomic uint64_t opened;   /* sections; both are written by the holder, and show progress */
} __attribute__((aligned(64)));

/* States in which a group is not simply locked. */
enum { DORMANT = 1 /* no collision in it yet */, GIVEN_UP = 2, SCHEDULED = 4 };

enum { WHY = 32 /* first bit of the state, above the number of threads */ };

/* The locks of a group: first and, less one, their number, a power of two. */
struct lock_range {
    uint32_t first, mask;
};

struct group {
    struct lock_range lock_range;
    _Atomic uint8_t state;
    _Atomic uint32_t inside;       /* threads in sections of a group that is only scheduled */
    _Atomic uint64_t opened;       /* sections that no lock has counted */
    _Atomic uint64_t contended;    /* waits that no lock has counted */
    _Atomic uint32_t turns_missed; /* how often a thread waited in vain for its turn */
};

struct order {
    _Atomic bool happened;
    sem_t turnstile; /* under the engine: posted when it has happened */
};

/* Locks of a group: that of one object or of two, or all. All threads acquire them in this order, so that healing adds
 * no deadlock. */
struct span {
    uint16_t from, last; /* from <= last */
    bool all;            /* those in between, too */
};

struct open {
    uint32_t section, place;
    const void *frame; /* NULL: the section may end in another function */
    struct span span;
};

/* A thread's open sections, and its depth in each lock. */
struct heal_thread {
    struct open open[OPEN_AT_ONCE];
    union {
        struct {
            bool exit_registered; /* the destructor at its exit is registered */
            uint16_t greedy;      /* the lock it acquired too often while others waited, + 1 */
            uint32_t n;
        };
        uint64_t idle; /* IDLE: the next section may take the fast path */
    };
    uint32_t
        fast; /* the only open section, + 1, if it took the fast path: its locks are not in `depth` and `holds` yet */
    uint32_t entered;   /* the group of the present access, while it is dormant, + 1 */
    struct span span;   /* of that access */
    struct open missed; /* the last section that was not opened because its group was dormant */
    bool has_missed;
    uint16_t depth[MOST_LOCKS];
    bool holds[MOST_LOCKS];
};

enum { IDLE = 1 /* `known` alone */ };

static struct dh_heal_policy policy;
static struct group groups[DH_HEAL_MOST_GROUPS];
static struct lock locks[MOST_LOCKS];
static uint32_t n_locks;
static struct order *orders; /* per section */
static uint8_t group_of[DH_HEAL_MOST_SECTIONS];
static struct lock_range lock_range[DH_HEAL_MOST_SECTIONS];
static bool ready;
static pthread_key_t exit_key;
static __thread struct heal_thread me;
__thread bool dh_heal_out_of_turn;

static bool has_state(uint32_t g, uint8_t what)
{
    return atomic_load_explicit(&groups[g].state, memory_order_relaxed) & what;
}

static bool change_state(uint32_t g, uint8_t what, bool on)
{
    uint8_t old = on ? atomic_fetch_or(&groups[g].state, what) : atomic_fetch_and(&groups[g].state, (uint8_t)~what);
    for (uint32_t l = groups[g].lock_range.first, last = l + groups[g].lock_range.mask; l <= last; l++)
        if (on)
            atomic_fetch_or(&locks[l].hurdles, (uint64_t)what << WHY);
        else
            atomic_fetch_and(&locks[l].hurdles, ~((uint64_t)what << WHY));
    return !(old & what) == on;
}

static uint32_t waiting_for(const struct lock *l)
{
    return (uint32_t)atomic_load_explicit(&l->hurdles, memory_order_relaxed);
}

/* ---- locks ---- */

static void print_parts(const char *const *parts, unsigned n_parts)
{
    char text[240];
    size_t n = 0;
    for (unsigned i = 0; i < n_parts; i++)
        for (const char *at = parts[i]; *at && n + 1 < sizeof text; at++)
            text[n++] = *at;
    text[n] = 0;
    dh_heal_print(text);
}

#define PRINT(...)                                                                                                     \
    print_parts((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void give_up(uint32_t g)
{
    if (!change_state(g, GIVEN_UP, true))
        return;
    PRINT("healing: group '", policy.groups[g].name,
          "': its lock was waited for and nothing happened; given up for the rest of the run");
    dh_heal_record_failure(policy.groups[g].name);
}

static struct timespec deadline_in(int ms)
{
    struct timespec t;
    dh_heal_now(&t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    return t;
}

static uint64_t progress_of(const struct lock *l)
{
    return atomic_load_explicit(&l->acquired, memory_order_relaxed) +
           atomic_load_explicit(&l->opened, memory_order_relaxed);
}

/* Waits as long as other threads make progress. */
static bool wait_for(uint32_t g, struct lock *l, uint32_t place)
{
    while (!has_state(g, GIVEN_UP)) {
        uint64_t before = progress_of(l);
        struct timespec until = deadline_in(dh_heal_patience_ms());
        if (dh_heal_lock_acquire(&l->at, dh_heal_under_engine() ? NULL : &until, place) == 0)
            return true;
        if (progress_of(l) == before)
            give_up(g);
    }
    return false;
}

/* Before a thread acquires it again, waiting threads get a chance. */
static void yield_to_waiters(uint32_t l)
{
    me.greedy = 0;
    if (!me.depth[l] && waiting_for(&locks[l]) && !dh_heal_under_engine())
        dh_heal_sleep(NAP);
}

/* Written by the holder of the lock only. */
static inline void count(_Atomic uint64_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Sections are short: most end sooner than a futex wait would. */
static bool spin_acquire(struct lock *l, uint32_t place)
{
    for (int i = 0; i < SPINS; i++) {
        __builtin_ia32_pause();
        if (dh_heal_lock_looks_free(&l->at) && dh_heal_lock_try(&l->at, place) == 0)
            return true;
    }
    return false;
}

/* The lock is unfair: the last owner mostly wins. Counts its acquisitions while others wait, against starvation. */
__attribute__((noinline)) static void count_in_a_row(uint32_t number)
{
    struct lock *l = &locks[number];
    const struct heal_thread *last = atomic_exchange_explicit(&l->last, &me, memory_order_relaxed);
    l->in_a_row = last == &me ? l->in_a_row + 1 : 0;
    me.greedy = l->in_a_row >= TURNS ? (uint16_t)(number + 1) : 0;
}

/* Called by the holder. */
static void count_wait(struct lock *l, bool for_section)
{
    l->contended++;
    l->kept_out += for_section;
}

/* A thread that spins is not counted in `hurdles`: that would take the cache line from the holder. */
__attribute__((noinline)) static bool acquire_busy(uint32_t g, struct lock *l, uint32_t place)
{
    bool for_section = atomic_load_explicit(&l->in_section, memory_order_relaxed);
    bool got = !dh_heal_under_engine() && spin_acquire(l, place);
    if (!got) {
        atomic_fetch_add_explicit(&l->hurdles, 1, memory_order_relaxed);
        got = wait_for(g, l, place);
        atomic_fetch_sub_explicit(&l->hurdles, 1, memory_order_relaxed);
    }
    if (got)
        count_wait(l, for_section);
    else
        atomic_fetch_add_explicit(&groups[g].contended, 1, memory_order_relaxed);
    return got;
}

static inline bool acquire(uint32_t g, uint32_t number, uint32_t place)
{
    struct lock *l = &locks[number];
    if (__builtin_expect(has_state(g, GIVEN_UP), 0))
        return false;
    if (__builtin_expect(me.greedy == number + 1, 0))
        yield_to_waiters(number);
    if ((dh_heal_under_engine() || __builtin_expect(dh_heal_lock_try(&l->at, place) != 0, 0)) &&
        !acquire_busy(g, l, place))
        return false;
    count(&l->acquired);
    if (__builtin_expect(waiting_for(l) != 0, 0))
        count_in_a_row(number);
    return true;
}

/* ---- locks of a group ---- */

static inline struct span span_of(const struct group *g)
{
    return (struct span){(uint16_t)g->lock_range.first, (uint16_t)(g->lock_range.first + g->lock_range.mask), true};
}

/* Variables in the same eight bytes have the same lock. */
static inline uint32_t lock_of(const struct lock_range *w, const void *object)
{
    uint64_t key = (uint64_t)(uintptr_t)object >> 3;
    return w->first + (uint32_t)(dh_hash_multiply(key) >> 32 & w->mask);
}

static inline struct span span_at(const struct group *g, const void *object)
{
    uint16_t l = (uint16_t)lock_of(&g->lock_range, object);
    return (struct span){l, l, false};
}

/* ---- healing by scheduling: yields to threads inside ---- */

static void yield_to_inside(uint32_t g)
{
    struct group *group = &groups[g];
    if (!atomic_load_explicit(&group->inside, memory_order_relaxed) || dh_heal_under_engine())
        return;
    atomic_fetch_add_explicit(&group->contended, 1, memory_order_relaxed);
    for (int i = 0; i < LOOKS + NAPS && atomic_load_explicit(&group->inside, memory_order_relaxed); i++)
        dh_heal_sleep(i < LOOKS ? 0 : NAP);
}

/* ---- turns, while a group is dormant ----
 * Two threads in a section may both read before one writes: when that is detected, an update is lost. So the second
 * thread's read is delayed until the first has left; if that one wrote meanwhile, this is a collision, and nothing is
 * lost yet. Waits are short, and cease after a few in vain: the first thread may be at another object, or wait for the
 * second. */

static bool claim_turn(struct lock *l)
{
    const struct heal_thread *nobody = NULL;
    return atomic_compare_exchange_strong(&l->last, &nobody, &me);
}

static void forget_missed(void)
{
    const struct heal_thread *mine = &me;
    if (me.has_missed && !dh_heal_out_of_turn)
        atomic_compare_exchange_strong(&locks[me.missed.span.from].last, &mine, NULL);
    me.has_missed = dh_heal_out_of_turn = false;
}

static void set_missed(const struct open *o)
{
    struct lock *l = &locks[o->span.from];
    forget_missed();
    me.missed = *o;
    me.has_missed = true;
    dh_heal_out_of_turn =
        !dh_heal_under_engine() && !claim_turn(l) &&
        atomic_load_explicit(&groups[group_of[o->section]].turns_missed, memory_order_relaxed) < TURNS_MISSED;
    if (dh_heal_out_of_turn)
        dh_heal_force_slow_path();
}

bool dh_heal_wait_turn(void)
{
    if (!me.has_missed || !dh_heal_out_of_turn || !me.entered || group_of[me.missed.section] != me.entered - 1)
        return false;
    struct lock *l = &locks[me.missed.span.from];
    dh_heal_out_of_turn = false;
    for (int i = -SPINS; i < TURN_NAPS && has_state(me.entered - 1, DORMANT); i++) {
        if (claim_turn(l))
            return true;
        if (i < 0)
            __builtin_ia32_pause();
        else
            dh_heal_sleep(TURN_NAP);
    }
    atomic_fetch_add_explicit(&groups[me.entered - 1].turns_missed, 1, memory_order_relaxed);
    atomic_store(&l->last, &me); /* its owner may never release it */
    return true;
}

/* ---- groups ---- */

static inline void enter_lock(uint32_t g, uint32_t l, bool section, uint32_t place)
{
    bool first = me.depth[l]++ == 0;
    if (first)
        me.holds[l] = acquire(g, l, place);
    if (me.holds[l] && (first || section))
        atomic_store_explicit(&locks[l].in_section, section, memory_order_relaxed);
    if (me.holds[l] && section)
        count(&locks[l].opened);
}

static inline void leave_lock(uint32_t l, uint32_t place)
{
    if (--me.depth[l] == 0 && me.holds[l]) {
        me.holds[l] = false;
        dh_heal_lock_release(&locks[l].at, place);
    }
}

/* Moves a fast section to `depth` and `holds`. */
__attribute__((noinline)) static void register_fast(void)
{
    struct span s = me.open[0].span;
    me.open[0].span.all = false;
    me.fast = 0;
    me.depth[s.from] = me.depth[s.last] = 1;
    me.holds[s.from] = me.holds[s.last] = true;
}

static inline void register_fast_section(void)
{
    if (me.fast)
        register_fast();
}

static void enter_group(uint32_t g, struct span s, bool section, uint32_t place)
{
    if (__builtin_expect(has_state(g, SCHEDULED), 0)) {
        if (me.depth[s.from]++ == 0)
            yield_to_inside(g);
        if (section)
            atomic_fetch_add_explicit(&groups[g].inside, 1, memory_order_relaxed);
        return;
    }
    enter_lock(g, s.from, section, place);
    for (uint32_t l = s.from + 1u; s.all && l < s.last; l++)
        enter_lock(g, l, false, place);
    if (s.last != s.from)
        enter_lock(g, s.last, false, place);
}

static void leave_group(uint32_t g, struct span s, bool section, uint32_t place)
{
    if (__builtin_expect(has_state(g, SCHEDULED), 0)) {
        me.depth[s.from]--;
        if (section)
            atomic_fetch_sub_explicit(&groups[g].inside, 1, memory_order_relaxed);
        return;
    }
    if (s.last != s.from)
        leave_lock(s.last, place);
    for (uint32_t l = s.last; s.all && l-- > s.from + 1u;)
        leave_lock(l, place);
    leave_lock(s.from, place);
}

void dh_heal_suspected(void)
{
    if (!me.entered || !change_state(me.entered - 1, DORMANT, false))
        return;
    const char *name = policy.groups[me.entered - 1].name;
    PRINT("healing: group '", name, "': threads met in it; healed from now on");
    dh_heal_record_healed(name);
}

static inline void enter(uint32_t g, struct span s, uint32_t place)
{
    register_fast_section();
    if (__builtin_expect(has_state(g, DORMANT), 0)) {
        me.entered = g + 1;
        me.span = s;
    } else
        enter_group(g, s, false, place);
}

/* A group that became healed meanwhile was not entered. */
static inline void leave(uint32_t g, struct span s, uint32_t place)
{
    me.entered = 0;
    register_fast_section();
    if (me.depth[s.from])
        leave_group(g, s, false, place);
}

void __dh_heal_enter(uint32_t group, uint32_t place)
{
    if (__builtin_expect(ready, 1))
        enter(group, span_of(&groups[group]), place);
}

void __dh_heal_leave(uint32_t group, uint32_t place)
{
    if (__builtin_expect(ready, 1))
        leave(group, span_of(&groups[group]), place);
}

void __dh_heal_enter_at(const void *object, uint32_t group, uint32_t place)
{
    if (__builtin_expect(ready, 1))
        enter(group, span_at(&groups[group], object), place);
}

void __dh_heal_leave_at(const void *object, uint32_t group, uint32_t place)
{
    if (__builtin_expect(ready, 1))
        leave(group, span_at(&groups[group], object), place);
}

/* ---- sections ---- */

__attribute__((noinline, cold)) static void wake_both(uint32_t one, uint32_t other, bool first)
{
    if (first)
        dh_heal_lock_wake(&locks[one].at);
    if (other != one)
        dh_heal_lock_wake(&locks[other].at);
}

/* Computes the address once, in a register. */
static inline struct lock *lock_at(uint32_t number)
{
    struct lock *l = &locks[number];
    __asm__("" : "+r"(l));
    return l;
}

static inline void close_fast(void)
{
    uint32_t from = me.open[0].span.from, last = me.open[0].span.last, place = me.open[0].place;
    me.fast = me.n = 0;
    bool other = last != from && dh_heal_lock_release_fast(&lock_at(last)->at, place);
    bool first = dh_heal_lock_release_fast(&lock_at(from)->at, place);
    if (__builtin_expect(first || other, 0))
        wake_both(from, last, first);
}

static void close_at(uint32_t index, uint32_t place)
{
    register_fast_section();
    struct open o = me.open[index];
    for (uint32_t i = index + 1; i < me.n; i++)
        me.open[i - 1] = me.open[i];
    me.n--;
    leave_group(group_of[o.section], o.span, true, place);
}

static void register_exit(void)
{
    if (!me.exit_registered)
        me.exit_registered = pthread_setspecific(exit_key, &me) == 0;
}

__attribute__((noinline)) static void open_section(const void *frame, uint32_t section, struct span span,
                                                   uint32_t place)
{
    uint32_t g = group_of[section];
    if (!ready)
        return;
    if (__builtin_expect(has_state(g, DORMANT), 0)) {
        register_exit();
        set_missed(&(struct open){section, place, frame, span});
        return;
    }
    register_fast_section();
    for (uint32_t i = me.n; i-- > 0;)
        if (me.open[i].section == section && me.open[i].frame == frame) {
            if (me.open[i].place != place) /* another access of the same source line: the section goes on */
                return;
            close_at(i, place);
            yield_to_waiters(span.from);
            break;
        }
    if (me.n == OPEN_AT_ONCE)
        return;
    register_exit();
    enter_group(g, span, true, place);
    if (!me.holds[span.from])
        atomic_fetch_add_explicit(&groups[g].opened, 1, memory_order_relaxed);
    me.open[me.n++] = (struct open){section, place, frame, span};
}

__attribute__((noinline, cold)) static void open_slowly(const void *frame, uint32_t section, uint32_t from,
                                                        uint32_t last, uint32_t place)
{
    bool all = last - from == lock_range[section].mask && last != from;
    open_section(frame, section, (struct span){(uint16_t)from, (uint16_t)last, all}, place);
}

__attribute__((noinline, cold)) static void open_again(const void *frame, uint32_t section, uint32_t from,
                                                       uint32_t last, uint32_t place)
{
    dh_heal_lock_release(&locks[from].at, place);
    open_slowly(frame, section, from, last, place);
}

static inline bool try_acquire_fast(struct lock *l, uint32_t place)
{
    return !atomic_load_explicit(&l->hurdles, memory_order_relaxed) && dh_heal_lock_try_fast(&l->at, place);
}

static bool spin_acquire_fast(struct lock *l, uint32_t place)
{
    bool for_section = atomic_load_explicit(&l->in_section, memory_order_relaxed);
    for (int i = 0; i < SPINS && !atomic_load_explicit(&l->hurdles, memory_order_relaxed); i++) {
        __builtin_ia32_pause();
        if (dh_heal_lock_looks_free(&l->at) && try_acquire_fast(l, place)) {
            count_wait(l, for_section);
            return true;
        }
    }
    return false;
}

static inline bool is_idle(void)
{
    return __builtin_expect(me.idle == IDLE && !dh_heal_under_engine(), 1);
}

__attribute__((always_inline)) static inline void set_opened(struct lock *l, const void *frame, uint32_t section,
                                                             uint32_t from, uint32_t last, uint32_t place)
{
    atomic_store_explicit(&l->in_section, true, memory_order_relaxed);
    count(&l->opened);
    me.open[0].section = section;
    me.open[0].place = place;
    me.open[0].frame = frame;
    me.open[0].span.from = (uint16_t)from;
    me.open[0].span.last = (uint16_t)last;
    me.n = 1;
    me.fast = section + 1;
}

/* The lock is busy: spins, then takes the slow path. */
__attribute__((noinline)) static void open_spinning(const void *frame, uint32_t section, uint32_t from, uint32_t last,
                                                    uint32_t place)
{
    struct lock *l = lock_at(from), *other = lock_at(last);
    if (!is_idle() || (!try_acquire_fast(l, place) && !spin_acquire_fast(l, place))) {
        open_slowly(frame, section, from, last, place);
    } else if (from != last && !try_acquire_fast(other, place) && !spin_acquire_fast(other, place)) {
        open_again(frame, section, from, last, place);
    } else {
        if (from != last)
            count(&other->acquired);
        set_opened(l, frame, section, from, last, place);
    }
}

/* The common case: no other section is open, and the lock is free. */
__attribute__((always_inline)) static inline void open_one(const void *frame, uint32_t section, uint32_t number,
                                                           uint32_t place)
{
    struct lock *l = lock_at(number);
    if (is_idle() && __builtin_expect(try_acquire_fast(l, place), 1))
        set_opened(l, frame, section, number, number, place);
    else
        open_spinning(frame, section, number, number, place);
}

__attribute__((noinline)) static void open_two(const void *frame, uint32_t section, uint32_t from, uint32_t last,
                                               uint32_t place)
{
    struct lock *l = lock_at(from), *other = lock_at(last);
    if (!is_idle() || !__builtin_expect(try_acquire_fast(l, place), 1)) {
        open_spinning(frame, section, from, last, place);
    } else if (__builtin_expect(!try_acquire_fast(other, place), 0)) {
        dh_heal_lock_release(&l->at, place);
        open_spinning(frame, section, from, last, place);
    } else {
        count(&other->acquired);
        set_opened(l, frame, section, from, last, place);
    }
}

void __dh_heal_open(const void *frame, uint32_t section, uint32_t place)
{
    uint32_t from = lock_range[section].first, mask = lock_range[section].mask;
    if (__builtin_expect(mask != 0, 0))
        open_slowly(frame, section, from, from + mask, place);
    else
        open_one(frame, section, from, place);
}

void __dh_heal_open_at(const void *frame, const void *one, const void *other, uint32_t section, uint32_t place)
{
    uint32_t a = lock_of(&lock_range[section], one), b = one == other ? a : lock_of(&lock_range[section], other);
    if (a == b)
        open_one(frame, section, a, place);
    else
        open_two(frame, section, a < b ? a : b, a < b ? b : a, place);
}

/* Closes the innermost such section, if there is one. */
void __dh_heal_close(uint32_t section, uint32_t place)
{
    if (__builtin_expect(me.fast == section + 1, 1)) {
        close_fast();
        return;
    }
    forget_missed();
    for (uint32_t i = me.n; i-- > 0;)
        if (me.open[i].section == section) {
            close_at(i, place);
            return;
        }
}

void dh_heal_enter_late(uint32_t place)
{
    uint32_t g = me.entered - 1;
    if (!me.entered || has_state(g, DORMANT))
        return;
    if (me.has_missed && group_of[me.missed.section] == g && me.n < OPEN_AT_ONCE) {
        register_exit();
        enter_group(g, me.missed.span, true, place);
        me.open[me.n++] = me.missed;
    }
    enter_group(g, me.span, false, place);
    me.entered = 0;
    forget_missed();
}

static bool lies_below(const struct open *o, const void *frame, bool or_at)
{
    return o->frame && (o->frame < frame || (or_at && o->frame == frame));
}

static void close_below(const void *frame, bool or_at)
{
    for (uint32_t i = me.n; i-- > 0;)
        if (lies_below(&me.open[i], frame, or_at))
            close_at(i, me.open[i].place);
}

void __dh_heal_return(const void *frame)
{
    if (__builtin_expect(me.fast && me.open[0].frame == frame, 1))
        close_fast();
    else {
        forget_missed();
        close_below(frame, true);
    }
}

void __dh_heal_again(const void *frame)
{
    forget_missed();
    close_below(frame, false);
}

/* Other threads must make progress for the wait to end, so no section spans it. */
void __dh_heal_wait(uint32_t place)
{
    forget_missed();
    while (me.n)
        close_at(me.n - 1, place);
}

static void thread_exit(void *heal_thread)
{
    (void)heal_thread;
    me.exit_registered = false;
    forget_missed();
    while (me.n)
        close_at(me.n - 1, me.open[me.n - 1].place);
}

/* ---- order of two accesses ---- */

/* Acquires and releases the lock: a happens-before edge, for the program and for detectors. */
static void pass_through(uint32_t g, uint32_t place)
{
    struct span s = span_of(&groups[g]);
    register_fast_section();
    enter_group(g, s, false, place);
    leave_group(g, s, false, place);
}

void __dh_heal_await(uint32_t section, uint32_t place)
{
    if (__builtin_expect(!ready, 0))
        return;
    struct order *o = &orders[section];
    uint32_t g = group_of[section];
    struct group *group = &groups[g];
    if (dh_heal_under_engine()) {
        dh_heal_pass_turnstile(&o->turnstile, place);
    } else if (!atomic_load_explicit(&o->happened, memory_order_acquire) && !has_state(g, GIVEN_UP)) {
        struct timespec now, until = deadline_in(dh_heal_patience_ms());
        atomic_fetch_add_explicit(&group->contended, 1, memory_order_relaxed);
        do {
            dh_heal_sleep(AWAIT_NAP);
            dh_heal_now(&now);
        } while (!atomic_load_explicit(&o->happened, memory_order_acquire) &&
                 (now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec)));
        if (!atomic_load(&o->happened) && change_state(g, GIVEN_UP, true)) {
            PRINT("healing: group '", policy.groups[g].name, "': what section '", policy.file.sections[section].name,
                  "' waits for did not happen; given up for the rest of the run");
            dh_heal_record_failure(policy.groups[g].name);
        }
    }
    pass_through(g, place);
}

void __dh_heal_happened(uint32_t section, uint32_t place)
{
    if (__builtin_expect(!ready, 0))
        return;
    if (atomic_load_explicit(&orders[section].happened, memory_order_relaxed))
        return;
    pass_through(group_of[section], place);
    atomic_store_explicit(&orders[section].happened, true, memory_order_release);
    if (dh_heal_under_engine())
        dh_heal_open_turnstile(&orders[section].turnstile, place);
}

/* ---- start, fork and end ---- */

static size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* A section of no group has no hooks. */
static void place_section(uint32_t section, uint32_t group)
{
    group_of[section] = (uint8_t)group;
    if (group < policy.n_groups)
        lock_range[section] = groups[group].lock_range;
}

static void make_groups(void)
{
    uint32_t by_object = 0;
    for (uint32_t i = 0; i < policy.n_groups; i++) {
        bool one_each = __dh_heal_per_object >> i & 1 && by_object++ < MOST_BY_OBJECT;
        groups[i].lock_range = (struct lock_range){n_locks, one_each ? SLOTS - 1 : 0};
        n_locks += groups[i].lock_range.mask + 1;
        change_state(i, DORMANT, dh_heal_is_auto());
        change_state(i, SCHEDULED, policy.groups[i].means == DH_HEAL_SCHEDULE);
    }
    for (uint32_t l = 0; l < n_locks; l++)
        dh_heal_lock_init(&locks[l].at);
    for (uint32_t i = 0; i < policy.file.n_sections; i++)
        place_section(i, policy.group_of[i]);
}

void dh_heal_start(void)
{
    struct dh_sections_error e;
    if (ready || !__dh_heal_policy[0])
        return;
    if (!dh_heal_read(&policy, __dh_heal_policy, length(__dh_heal_policy), dh_heal_allocate, &e)) {
        PRINT("healing: the policy cannot be read: ", e.text, "; nothing is healed");
        return;
    }
    orders = dh_heal_allocate((policy.file.n_sections + 1) * sizeof *orders);
    if (!orders || !dh_heal_make_key(&exit_key, thread_exit))
        return;
    make_groups();
    ready = true;
}

/* No other thread is inside in the child. */
void dh_heal_forked(void)
{
    register_fast_section();
    for (uint32_t l = 0; ready && l < n_locks; l++) {
        dh_heal_lock_init(&locks[l].at);
        atomic_fetch_and(&locks[l].hurdles, ~(uint64_t)UINT32_MAX);
        atomic_store(&locks[l].last, NULL);
        if (me.holds[l])
            dh_heal_lock_try(&locks[l].at, UINT32_MAX);
    }
    for (uint32_t i = 0; ready && i < policy.n_groups; i++)
        atomic_store(&groups[i].inside, has_state(i, SCHEDULED) && me.depth[groups[i].lock_range.first]);
}

static const char *number(uint64_t n, char text[24])
{
    char *at = text + 23;
    *at = 0;
    do {
        *--at = (char)('0' + n % 10);
    } while (n /= 10);
    return at;
}

void dh_heal_print_counts(void)
{
    char opened[24], contended[24], kept_out[24];
    for (uint32_t i = 0; ready && i < policy.n_groups; i++) {
        if (has_state(i, DORMANT))
            continue;
        uint64_t sections = groups[i].opened, waits = groups[i].contended, between = 0;
        for (uint32_t l = groups[i].lock_range.first; l <= groups[i].lock_range.first + groups[i].lock_range.mask;
             l++) {
            sections += locks[l].opened;
            waits += locks[l].contended;
            between += locks[l].kept_out;
        }
        PRINT("healing: group '", policy.groups[i].name, "': ", number(sections, opened), " sections entered, ",
              number(waits, contended), " waits, ", number(between, kept_out), " would have come between",
              has_state(i, GIVEN_UP) ? "; given up" : "");
    }
}
