/* Sections that others must not come into, made to be so by a lock for each group (001 §2: the healing lock) or for
 * each object that the group is about, by letting others pass first, or by waiting for what must come before. A lock in
 * which nothing happens for too long is given up, for all and for good: the program has its bug back, but does not hang
 * because of us. */
#include "runtime/core/public_hooks.h"

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
    SLOTS = 64,         /* locks of a group that has one for each object, which are told apart by a hash */
    MOST_BY_OBJECT = 7, /* groups; further ones have one lock */
    MOST_LOCKS = DH_HEAL_MOST_GROUPS - MOST_BY_OBJECT + MOST_BY_OBJECT * SLOTS
};

struct self;

/* In cache lines of its own: threads that are at different objects do not meet in them. */
struct lock {
    struct dh_heal_lock at;
    uint32_t in_a_row;  /* how often its last owner took it while others waited; of the holder, as `last` */
    uint32_t contended; /* waits for it; both are of the holder */
    /* Who took it last; while its group is dormant, whose turn it is to be in a section. */
    const struct self *_Atomic last;
    _Atomic uint64_t hurdles; /* what is in the way of taking it at once: threads that wait, in WHY what its group is */
    _Atomic bool in_section;  /* it is held for more than one access */
    uint32_t kept_out;        /* waits for one that was in a section */
    _Atomic uint64_t taken;   /* how often, but for the first of a quick section's locks */
    _Atomic uint64_t opened;  /* sections; both are of the holder, and say that something happens */
} __attribute__((aligned(64)));

/* Why a group is not just locked. */
enum { DORMANT = 1 /* nothing is known against it yet */, GIVEN_UP = 2, SCHEDULED = 4 };

enum { WHY = 32 /* bits behind the number of threads */ };

/* The locks of a group, the last one less than a power of two behind the first. */
struct where {
    uint32_t first, mask;
};

struct group {
    struct where where;
    _Atomic uint8_t state;
    _Atomic uint32_t inside;       /* threads, of a group that is only scheduled */
    _Atomic uint64_t opened;       /* sections, without a lock */
    _Atomic uint64_t contended;    /* waits that no lock has counted */
    _Atomic uint32_t turns_missed; /* how often somebody waited in vain for a turn */
};

struct order {
    _Atomic bool happened;
    sem_t turnstile; /* while somebody else decides who runs: given when it has happened */
};

/* Locks of a group, in order: that of one object or of two, or all. Everybody takes them in order. */
struct span {
    uint16_t from, last; /* from > last never */
    bool all;            /* between, too */
};

struct open {
    uint32_t section, place;
    const void *frame; /* NULL: it may end in another function */
    struct span span;
};

/* What a thread has open, and how deep it is in each lock. */
struct self {
    struct open open[OPEN_AT_ONCE];
    union {
        struct {
            bool known;      /* its end will be seen */
            uint16_t greedy; /* the lock that others have waited for long, + 1 */
            uint32_t n;
        };
        uint64_t idle; /* IDLE: the next section may be opened quickly */
    };
    uint32_t quick;     /* the only open section, whose locks `depth` and `holds` do not know of yet, + 1 */
    uint32_t entered;   /* the group of the present access, while it is dormant, + 1 */
    struct span span;   /* of that access */
    struct open missed; /* the last section that was not opened, since its group was dormant */
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
static struct where where[DH_HEAL_MOST_SECTIONS];
static bool ready;
static pthread_key_t end_key;
static __thread struct self me;
__thread bool dh_heal_out_of_turn;

static bool is(uint32_t g, uint8_t what)
{
    return atomic_load_explicit(&groups[g].state, memory_order_relaxed) & what;
}

static bool change_state(uint32_t g, uint8_t what, bool on)
{
    uint8_t old = on ? atomic_fetch_or(&groups[g].state, what) : atomic_fetch_and(&groups[g].state, (uint8_t)~what);
    for (uint32_t l = groups[g].where.first, last = l + groups[g].where.mask; l <= last; l++)
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

static void say(const char *const *parts, unsigned n_parts)
{
    char text[240];
    size_t n = 0;
    for (unsigned i = 0; i < n_parts; i++)
        for (const char *at = parts[i]; *at && n + 1 < sizeof text; at++)
            text[n++] = *at;
    text[n] = 0;
    dh_heal_print(text);
}

#define SAY(...) say((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void give_up(uint32_t g)
{
    if (!change_state(g, GIVEN_UP, true))
        return;
    SAY("healing: group '", policy.groups[g].name,
        "': its lock was waited for and nothing happened; given up for the rest of the run");
    dh_heal_record_failure(policy.groups[g].name);
}

static struct timespec later(int ms)
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

static uint64_t done_with(const struct lock *l)
{
    return atomic_load_explicit(&l->taken, memory_order_relaxed) +
           atomic_load_explicit(&l->opened, memory_order_relaxed);
}

/* As long as others come and go, waiting is in order. */
static bool wait_for(uint32_t g, struct lock *l, uint32_t place)
{
    while (!is(g, GIVEN_UP)) {
        uint64_t before = done_with(l);
        struct timespec until = later(dh_heal_patience_ms());
        if (dh_heal_lock_acquire(&l->at, dh_heal_under_engine() ? NULL : &until, place) == 0)
            return true;
        if (done_with(l) == before)
            give_up(g);
    }
    return false;
}

/* Before a thread takes it again, others have their turn. */
static void let_others_have_it(uint32_t l)
{
    me.greedy = 0;
    if (!me.depth[l] && waiting_for(&locks[l]) && !dh_heal_under_engine())
        dh_heal_sleep(NAP);
}

/* Only who holds the lock writes it then. */
static inline void count(_Atomic uint64_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Sections are short: most are over before a thread could be laid to sleep and woken. */
static bool comes_free(struct lock *l, uint32_t place)
{
    for (int i = 0; i < SPINS; i++) {
        __builtin_ia32_pause();
        if (dh_heal_lock_looks_free(&l->at) && dh_heal_lock_try(&l->at, place) == 0)
            return true;
    }
    return false;
}

/* A lock goes to whoever asks first, which is mostly who had it: a thread that waits would see it pass by. */
__attribute__((noinline)) static void note_turn(uint32_t number)
{
    struct lock *l = &locks[number];
    const struct self *last = atomic_exchange_explicit(&l->last, &me, memory_order_relaxed);
    l->in_a_row = last == &me ? l->in_a_row + 1 : 0;
    me.greedy = l->in_a_row >= TURNS ? (uint16_t)(number + 1) : 0;
}

/* By who holds the lock now. */
static void note_wait(struct lock *l, bool for_section)
{
    l->contended++;
    l->kept_out += for_section;
}

/* Who only looks on for a moment does not say so: that would take the lock's line from who is inside. */
__attribute__((noinline)) static bool acquire_busy(uint32_t g, struct lock *l, uint32_t place)
{
    bool for_section = atomic_load_explicit(&l->in_section, memory_order_relaxed);
    bool got = !dh_heal_under_engine() && comes_free(l, place);
    if (!got) {
        atomic_fetch_add_explicit(&l->hurdles, 1, memory_order_relaxed);
        got = wait_for(g, l, place);
        atomic_fetch_sub_explicit(&l->hurdles, 1, memory_order_relaxed);
    }
    if (got)
        note_wait(l, for_section);
    else
        atomic_fetch_add_explicit(&groups[g].contended, 1, memory_order_relaxed);
    return got;
}

static inline bool acquire(uint32_t g, uint32_t number, uint32_t place)
{
    struct lock *l = &locks[number];
    if (__builtin_expect(is(g, GIVEN_UP), 0))
        return false;
    if (__builtin_expect(me.greedy == number + 1, 0))
        let_others_have_it(number);
    if ((dh_heal_under_engine() || __builtin_expect(dh_heal_lock_try(&l->at, place) != 0, 0)) &&
        !acquire_busy(g, l, place))
        return false;
    count(&l->taken);
    if (__builtin_expect(waiting_for(l) != 0, 0))
        note_turn(number);
    return true;
}

/* ---- locks of a group ---- */

static inline struct span span_of(const struct group *g)
{
    return (struct span){(uint16_t)g->where.first, (uint16_t)(g->where.first + g->where.mask), true};
}

/* A variable is told by the eight bytes that it is in. */
static inline uint32_t lock_of(const struct where *w, const void *object)
{
    uint64_t key = (uint64_t)(uintptr_t)object >> 3;
    return w->first + (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32 & w->mask);
}

static inline struct span span_at(const struct group *g, const void *object)
{
    uint16_t l = (uint16_t)lock_of(&g->where, object);
    return (struct span){l, l, false};
}

/* ---- letting others pass ---- */

static void let_pass(uint32_t g)
{
    struct group *group = &groups[g];
    if (!atomic_load_explicit(&group->inside, memory_order_relaxed) || dh_heal_under_engine())
        return;
    atomic_fetch_add_explicit(&group->contended, 1, memory_order_relaxed);
    for (int i = 0; i < LOOKS + NAPS && atomic_load_explicit(&group->inside, memory_order_relaxed); i++)
        dh_heal_sleep(i < LOOKS ? 0 : NAP);
}

/* ---- turns, while nothing is known against a group ----
 * Two threads in a section at once may both read before one writes: when that is seen, an update is lost. So the second
 * one's read is held up, for a while, until the first is out; if that one wrote meanwhile, the two have met, and
 * nothing is lost yet. Nobody waits long, and nobody for long if it is in vain: who is inside may well be at another
 * object, or wait for something that the second one has. */

static bool take_turn(struct lock *l)
{
    const struct self *nobody = NULL;
    return atomic_compare_exchange_strong(&l->last, &nobody, &me);
}

static void forget_missed(void)
{
    const struct self *mine = &me;
    if (me.has_missed && !dh_heal_out_of_turn)
        atomic_compare_exchange_strong(&locks[me.missed.span.from].last, &mine, NULL);
    me.has_missed = dh_heal_out_of_turn = false;
}

static void miss(const struct open *o)
{
    struct lock *l = &locks[o->span.from];
    forget_missed();
    me.missed = *o;
    me.has_missed = true;
    dh_heal_out_of_turn =
        !dh_heal_under_engine() && !take_turn(l) &&
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
    for (int i = -SPINS; i < TURN_NAPS && is(me.entered - 1, DORMANT); i++) {
        if (take_turn(l))
            return true;
        if (i < 0)
            __builtin_ia32_pause();
        else
            dh_heal_sleep(TURN_NAP);
    }
    atomic_fetch_add_explicit(&groups[me.entered - 1].turns_missed, 1, memory_order_relaxed);
    atomic_store(&l->last, &me); /* who had it may never give it back */
    return true;
}

/* ---- groups ---- */

static inline void down_lock(uint32_t g, uint32_t l, bool section, uint32_t place)
{
    bool first = me.depth[l]++ == 0;
    if (first)
        me.holds[l] = acquire(g, l, place);
    if (me.holds[l] && (first || section))
        atomic_store_explicit(&locks[l].in_section, section, memory_order_relaxed);
    if (me.holds[l] && section)
        count(&locks[l].opened);
}

static inline void up_lock(uint32_t l, uint32_t place)
{
    if (--me.depth[l] == 0 && me.holds[l]) {
        me.holds[l] = false;
        dh_heal_lock_release(&locks[l].at, place);
    }
}

/* What was opened quickly becomes one of many. */
__attribute__((noinline)) static void note_quick(void)
{
    struct span s = me.open[0].span;
    me.open[0].span.all = false;
    me.quick = 0;
    me.depth[s.from] = me.depth[s.last] = 1;
    me.holds[s.from] = me.holds[s.last] = true;
}

static inline void note_open(void)
{
    if (me.quick)
        note_quick();
}

static void down(uint32_t g, struct span s, bool section, uint32_t place)
{
    if (__builtin_expect(is(g, SCHEDULED), 0)) {
        if (me.depth[s.from]++ == 0)
            let_pass(g);
        if (section)
            atomic_fetch_add_explicit(&groups[g].inside, 1, memory_order_relaxed);
        return;
    }
    down_lock(g, s.from, section, place);
    for (uint32_t l = s.from + 1u; s.all && l < s.last; l++)
        down_lock(g, l, false, place);
    if (s.last != s.from)
        down_lock(g, s.last, false, place);
}

static void up(uint32_t g, struct span s, bool section, uint32_t place)
{
    if (__builtin_expect(is(g, SCHEDULED), 0)) {
        me.depth[s.from]--;
        if (section)
            atomic_fetch_sub_explicit(&groups[g].inside, 1, memory_order_relaxed);
        return;
    }
    if (s.last != s.from)
        up_lock(s.last, place);
    for (uint32_t l = s.last; s.all && l-- > s.from + 1u;)
        up_lock(l, place);
    up_lock(s.from, place);
}

void dh_heal_suspected(void)
{
    if (!me.entered || !change_state(me.entered - 1, DORMANT, false))
        return;
    const char *name = policy.groups[me.entered - 1].name;
    SAY("healing: group '", name, "': threads met in it; healed from now on");
    dh_heal_record_healed(name);
}

static inline void enter(uint32_t g, struct span s, uint32_t place)
{
    note_open();
    if (__builtin_expect(is(g, DORMANT), 0)) {
        me.entered = g + 1;
        me.span = s;
    } else
        down(g, s, false, place);
}

/* What became healed meanwhile was not entered. */
static inline void leave(uint32_t g, struct span s, uint32_t place)
{
    me.entered = 0;
    note_open();
    if (me.depth[s.from])
        up(g, s, false, place);
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

/* Its address in a register, once for all of it. */
static inline struct lock *lock_at(uint32_t number)
{
    struct lock *l = &locks[number];
    __asm__("" : "+r"(l));
    return l;
}

static inline void close_quick(void)
{
    uint32_t from = me.open[0].span.from, last = me.open[0].span.last, place = me.open[0].place;
    me.quick = me.n = 0;
    bool other = last != from && dh_heal_lock_release_fast(&lock_at(last)->at, place);
    bool first = dh_heal_lock_release_fast(&lock_at(from)->at, place);
    if (__builtin_expect(first || other, 0))
        wake_both(from, last, first);
}

static void close_at(uint32_t index, uint32_t place)
{
    note_open();
    struct open o = me.open[index];
    for (uint32_t i = index + 1; i < me.n; i++)
        me.open[i - 1] = me.open[i];
    me.n--;
    up(group_of[o.section], o.span, true, place);
}

static void expect_end(void)
{
    if (!me.known)
        me.known = pthread_setspecific(end_key, &me) == 0;
}

__attribute__((noinline)) static void open_section(const void *frame, uint32_t section, struct span span,
                                                   uint32_t place)
{
    uint32_t g = group_of[section];
    if (!ready)
        return;
    if (__builtin_expect(is(g, DORMANT), 0)) {
        expect_end();
        miss(&(struct open){section, place, frame, span});
        return;
    }
    note_open();
    for (uint32_t i = me.n; i-- > 0;)
        if (me.open[i].section == section && me.open[i].frame == frame) {
            if (me.open[i].place != place) /* another access of the same line: it goes on */
                return;
            close_at(i, place);
            let_others_have_it(span.from);
            break;
        }
    if (me.n == OPEN_AT_ONCE)
        return;
    expect_end();
    down(g, span, true, place);
    if (!me.holds[span.from])
        atomic_fetch_add_explicit(&groups[g].opened, 1, memory_order_relaxed);
    me.open[me.n++] = (struct open){section, place, frame, span};
}

__attribute__((noinline, cold)) static void open_slowly(const void *frame, uint32_t section, uint32_t from,
                                                        uint32_t last, uint32_t place)
{
    bool all = last - from == where[section].mask && last != from;
    open_section(frame, section, (struct span){(uint16_t)from, (uint16_t)last, all}, place);
}

__attribute__((noinline, cold)) static void open_again(const void *frame, uint32_t section, uint32_t from,
                                                       uint32_t last, uint32_t place)
{
    dh_heal_lock_release(&locks[from].at, place);
    open_slowly(frame, section, from, last, place);
}

static inline bool take_at_once(struct lock *l, uint32_t place)
{
    return !atomic_load_explicit(&l->hurdles, memory_order_relaxed) && dh_heal_lock_try_fast(&l->at, place);
}

static bool take_soon(struct lock *l, uint32_t place)
{
    bool for_section = atomic_load_explicit(&l->in_section, memory_order_relaxed);
    for (int i = 0; i < SPINS && !atomic_load_explicit(&l->hurdles, memory_order_relaxed); i++) {
        __builtin_ia32_pause();
        if (dh_heal_lock_looks_free(&l->at) && take_at_once(l, place)) {
            note_wait(l, for_section);
            return true;
        }
    }
    return false;
}

static inline bool is_idle(void)
{
    return __builtin_expect(me.idle == IDLE && !dh_heal_under_engine(), 1);
}

__attribute__((always_inline)) static inline void note_opened(struct lock *l, const void *frame, uint32_t section,
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
    me.quick = section + 1;
}

/* Somebody is in the way, for a moment or for longer. */
__attribute__((noinline)) static void open_soon(const void *frame, uint32_t section, uint32_t from, uint32_t last,
                                                uint32_t place)
{
    struct lock *l = lock_at(from), *other = lock_at(last);
    if (!is_idle() || (!take_at_once(l, place) && !take_soon(l, place))) {
        open_slowly(frame, section, from, last, place);
    } else if (from != last && !take_at_once(other, place) && !take_soon(other, place)) {
        open_again(frame, section, from, last, place);
    } else {
        if (from != last)
            count(&other->taken);
        note_opened(l, frame, section, from, last, place);
    }
}

/* What most come by: nothing else is open, and nobody is in the way. */
__attribute__((always_inline)) static inline void open_one(const void *frame, uint32_t section, uint32_t number,
                                                           uint32_t place)
{
    struct lock *l = lock_at(number);
    if (is_idle() && __builtin_expect(take_at_once(l, place), 1))
        note_opened(l, frame, section, number, number, place);
    else
        open_soon(frame, section, number, number, place);
}

__attribute__((noinline)) static void open_two(const void *frame, uint32_t section, uint32_t from, uint32_t last,
                                               uint32_t place)
{
    struct lock *l = lock_at(from), *other = lock_at(last);
    if (!is_idle() || !__builtin_expect(take_at_once(l, place), 1)) {
        open_soon(frame, section, from, last, place);
    } else if (__builtin_expect(!take_at_once(other, place), 0)) {
        dh_heal_lock_release(&l->at, place);
        open_soon(frame, section, from, last, place);
    } else {
        count(&other->taken);
        note_opened(l, frame, section, from, last, place);
    }
}

void __dh_heal_open(const void *frame, uint32_t section, uint32_t place)
{
    uint32_t from = where[section].first, mask = where[section].mask;
    if (__builtin_expect(mask != 0, 0))
        open_slowly(frame, section, from, from + mask, place);
    else
        open_one(frame, section, from, place);
}

void __dh_heal_open_at(const void *frame, const void *one, const void *other, uint32_t section, uint32_t place)
{
    uint32_t a = lock_of(&where[section], one), b = one == other ? a : lock_of(&where[section], other);
    if (a == b)
        open_one(frame, section, a, place);
    else
        open_two(frame, section, a < b ? a : b, a < b ? b : a, place);
}

/* The innermost, if there is one. */
void __dh_heal_close(uint32_t section, uint32_t place)
{
    if (__builtin_expect(me.quick == section + 1, 1)) {
        close_quick();
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
    if (!me.entered || is(g, DORMANT))
        return;
    if (me.has_missed && group_of[me.missed.section] == g && me.n < OPEN_AT_ONCE) {
        expect_end();
        down(g, me.missed.span, true, place);
        me.open[me.n++] = me.missed;
    }
    down(g, me.span, false, place);
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
    if (__builtin_expect(me.quick && me.open[0].frame == frame, 1))
        close_quick();
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

/* Others must be able to come by for the wait to end, so nothing is at once across it. */
void __dh_heal_wait(uint32_t place)
{
    forget_missed();
    while (me.n)
        close_at(me.n - 1, place);
}

static void at_end(void *self)
{
    (void)self;
    me.known = false;
    forget_missed();
    while (me.n)
        close_at(me.n - 1, me.open[me.n - 1].place);
}

/* ---- order of two accesses ---- */

/* The lock makes what came before visible, and known to whoever watches. */
static void pass_through(uint32_t g, uint32_t place)
{
    struct span s = span_of(&groups[g]);
    note_open();
    down(g, s, false, place);
    up(g, s, false, place);
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
    } else if (!atomic_load_explicit(&o->happened, memory_order_acquire) && !is(g, GIVEN_UP)) {
        struct timespec now, until = later(dh_heal_patience_ms());
        atomic_fetch_add_explicit(&group->contended, 1, memory_order_relaxed);
        do {
            dh_heal_sleep(AWAIT_NAP);
            dh_heal_now(&now);
        } while (!atomic_load_explicit(&o->happened, memory_order_acquire) &&
                 (now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec)));
        if (!atomic_load(&o->happened) && change_state(g, GIVEN_UP, true)) {
            SAY("healing: group '", policy.groups[g].name, "': what section '", policy.file.sections[section].name,
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

/* ---- beginning and end ---- */

static size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* Of no group: nothing asks for it. */
static void place_section(uint32_t section, uint32_t group)
{
    group_of[section] = (uint8_t)group;
    if (group < policy.n_groups)
        where[section] = groups[group].where;
}

static void make_groups(void)
{
    uint32_t by_object = 0;
    for (uint32_t i = 0; i < policy.n_groups; i++) {
        bool one_each = __dh_heal_per_object >> i & 1 && by_object++ < MOST_BY_OBJECT;
        groups[i].where = (struct where){n_locks, one_each ? SLOTS - 1 : 0};
        n_locks += groups[i].where.mask + 1;
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
        SAY("healing: the policy cannot be read: ", e.text, "; nothing is healed");
        return;
    }
    orders = dh_heal_allocate((policy.file.n_sections + 1) * sizeof *orders);
    if (!orders || !dh_heal_make_key(&end_key, at_end))
        return;
    make_groups();
    ready = true;
}

/* Of the other threads none is inside any more. */
void dh_heal_forked(void)
{
    note_open();
    for (uint32_t l = 0; ready && l < n_locks; l++) {
        dh_heal_lock_init(&locks[l].at);
        atomic_fetch_and(&locks[l].hurdles, ~(uint64_t)UINT32_MAX);
        atomic_store(&locks[l].last, NULL);
        if (me.holds[l])
            dh_heal_lock_try(&locks[l].at, UINT32_MAX);
    }
    for (uint32_t i = 0; ready && i < policy.n_groups; i++)
        atomic_store(&groups[i].inside, is(i, SCHEDULED) && me.depth[groups[i].where.first]);
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

void dh_heal_finish(void)
{
    char opened[24], contended[24], kept_out[24];
    for (uint32_t i = 0; ready && i < policy.n_groups; i++) {
        if (is(i, DORMANT))
            continue;
        uint64_t sections = groups[i].opened, waits = groups[i].contended, between = 0;
        for (uint32_t l = groups[i].where.first; l <= groups[i].where.first + groups[i].where.mask; l++) {
            sections += locks[l].opened;
            waits += locks[l].contended;
            between += locks[l].kept_out;
        }
        SAY("healing: group '", policy.groups[i].name, "': ", number(sections, opened), " sections entered, ",
            number(waits, contended), " waits, ", number(between, kept_out), " would have come between",
            is(i, GIVEN_UP) ? "; given up" : "");
    }
}
