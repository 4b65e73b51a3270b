/* The dependence relation of steps, and when two steps race. A step touches a set of bytes and up to two
 * synchronisation objects; an object is used exclusively (any other use depends on that) or in a way that commutes with
 * its like. */
#include "search/step.h"

enum use {
    USE_NONE,
    USE_EXCLUSIVE,
    USE_SHARED = DH_STEP_SHARED, /* commutes with its like */
    USE_FAILED = DH_STEP_FAILED, /* so does this, but not with SHARED: a reader makes a try fail */
};

/* What steps of a kind touch. */
enum touch {
    MEMORY = 1 << 0,  /* bytes at object, by flags */
    SYNC = 1 << 1,    /* a synchronisation object at object */
    SECOND = 1 << 2,  /* one at second, if that is not 0 */
    THREAD = 1 << 3,  /* thread `object` */
    IO = 1 << 4,      /* descriptors, files and other processes (enum dh_io_touch) */
    THREADS = 1 << 5, /* the index of the next thread */
    ALL = 1 << 6,     /* everything */
    FREES = 1 << 7,   /* bytes at object, and any object among them */
    BUFFER = 1 << 8,  /* the store buffer `second` */
};

static const uint16_t touches[DH_STEP_COUNT] = {
    [DH_STEP_READ] = MEMORY,
    [DH_STEP_WRITE] = MEMORY,
    [DH_STEP_RMW] = MEMORY,
    [DH_STEP_COPY] = MEMORY,
    [DH_STEP_LOCK] = SYNC,
    [DH_STEP_UNLOCK] = SYNC,
    [DH_STEP_WAIT] = SYNC | SECOND,
    [DH_STEP_WAKE] = SYNC | SECOND,
    [DH_STEP_SIGNAL] = SYNC,
    [DH_STEP_BROADCAST] = SYNC,
    [DH_STEP_SEM_WAIT] = SYNC,
    [DH_STEP_SEM_POST] = SYNC,
    [DH_STEP_BARRIER] = SYNC,
    [DH_STEP_ONCE] = SYNC,
    [DH_STEP_ONCE_END] = SYNC,
    [DH_STEP_CREATE] = THREAD | THREADS,
    [DH_STEP_BEGIN] = THREAD,
    [DH_STEP_END] = THREAD,
    [DH_STEP_JOIN] = THREAD,
    [DH_STEP_CANCEL] = ALL,
    [DH_STEP_FUTEX_WAIT] = SYNC | MEMORY,
    [DH_STEP_FUTEX_WAKE] = SYNC,
    [DH_STEP_FREE] = FREES,
    [DH_STEP_IO] = IO,
    [DH_STEP_INIT] = SYNC,
    [DH_STEP_DESTROY] = SYNC,
    [DH_STEP_DRAIN] = MEMORY | BUFFER,
    [DH_STEP_FLUSH] = BUFFER,
    [DH_STEP_EXIT] = ALL,
    [DH_STEP_KILL] = ALL,
    [DH_STEP_DELIVER] = ALL,
};

static const char *const names[DH_STEP_COUNT] = {
#define DH_STEP(id, name) [DH_STEP_##id] = name,
#include "search/step.def"
#undef DH_STEP
};

const char *dh_step_name(unsigned kind)
{
    return names[kind < DH_STEP_COUNT ? kind : DH_STEP_NONE];
}

static bool is_buffered_store(const struct dh_step *s)
{
    return s->kind == DH_STEP_WRITE && s->flags & DH_STEP_BUFFERED;
}

/* A buffered store touches nothing but its buffer; a handler that may run instead, anything. */
static unsigned touched(const struct dh_step *s)
{
    if (s->flags & DH_STEP_SIGNALLED)
        return ALL;
    if (is_buffered_store(s))
        return BUFFER;
    return s->kind < DH_STEP_COUNT ? touches[s->kind] : ALL;
}

/* ---- bytes ---- */

struct bytes {
    uint64_t at, size;
};

static bool overlap(struct bytes a, struct bytes b)
{
    return a.at - b.at < b.size || b.at - a.at < a.size;
}

static struct bytes to(const struct dh_step *s)
{
    return (struct bytes){s->object, s->size ? s->size : 1};
}

static struct bytes from(const struct dh_step *s)
{
    return (struct bytes){s->second, s->size ? s->size : 1};
}

static bool writes(const struct dh_step *s)
{
    return s->kind == DH_STEP_FREE || s->kind == DH_STEP_DRAIN || s->flags & DH_STEP_WRITES;
}

/* The source of a copy is only read. */
static bool has_source(const struct dh_step *s)
{
    return s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE;
}

static bool bytes_conflict(const struct dh_step *a, const struct dh_step *b)
{
    if ((writes(a) || writes(b)) && overlap(to(a), to(b)))
        return true;
    if (has_source(a) && writes(b) && overlap(from(a), to(b)))
        return true;
    return has_source(b) && writes(a) && overlap(to(a), from(b));
}

bool dh_steps_race(const struct dh_step *a, const struct dh_step *b)
{
    enum { BYTES = MEMORY | FREES };
    unsigned of_a = a->kind < DH_STEP_COUNT ? touches[a->kind] : 0,
             of_b = b->kind < DH_STEP_COUNT ? touches[b->kind] : 0;
    if (!(of_a & BYTES) || !(of_b & BYTES) || (of_a | of_b) & BUFFER)
        return false;
    /* A futex wait reads as atomics do. */
    bool atomic_a = a->flags & DH_STEP_ATOMIC || a->kind == DH_STEP_FUTEX_WAIT;
    bool atomic_b = b->flags & DH_STEP_ATOMIC || b->kind == DH_STEP_FUTEX_WAIT;
    return !(atomic_a && atomic_b) && bytes_conflict(a, b);
}

/* ---- synchronisation objects ---- */

static enum use use_of(const struct dh_step *s, uint64_t object)
{
    unsigned t = touched(s);
    bool first = t & SYNC && s->object == object;
    bool second = t & SECOND && s->second && s->second == object;
    if (!first && !second)
        return USE_NONE;
    enum use together = s->flags & (USE_SHARED | USE_FAILED);
    return together && !second ? together : USE_EXCLUSIVE;
}

static bool depend_at(const struct dh_step *a, const struct dh_step *b, uint64_t object)
{
    enum use of_a = use_of(a, object), of_b = use_of(b, object);
    if (!of_a || !of_b)
        return false;
    /* Posts commute: a wait needs any of them. */
    if (a->kind == DH_STEP_SEM_POST && b->kind == DH_STEP_SEM_POST)
        return false;
    return !(of_a & of_b & (USE_SHARED | USE_FAILED));
}

static bool among(uint64_t object, struct bytes b)
{
    return object && object - b.at < b.size;
}

static bool frees_object(const struct dh_step *freed, const struct dh_step *s)
{
    unsigned t = touched(s);
    if (!(touched(freed) & FREES))
        return false;
    return (t & SYNC && among(s->object, to(freed))) || (t & SECOND && among(s->second, to(freed)));
}

/* ---- store buffers ---- */

static bool is_store_of(const struct dh_step *s, const struct dh_step *drain)
{
    return s->kind == DH_STEP_WRITE && drain->kind == DH_STEP_DRAIN && s->site == drain->site &&
           s->occurrence == drain->occurrence && overlap(to(s), to(drain));
}

/* Drains of two stores; `first` is of the earlier store. */
static bool are_in_order(const struct dh_step *first, const struct dh_step *second)
{
    return second->order & DH_DRAIN_LAST || (first->order ^ second->order) & DH_DRAIN_GROUP;
}

/* A store precedes its drain; drains before a store barrier precede those after it; all precede that of a release
 * store, and all precede the flush. Another store and a drain are independent. */
static bool depend_in_buffer(const struct dh_step *a, const struct dh_step *b)
{
    if (dh_step_buffer_number(a) != dh_step_buffer_number(b))
        return false;
    if (a->kind == DH_STEP_DRAIN && b->kind == DH_STEP_DRAIN)
        return a->second < b->second ? are_in_order(a, b) : are_in_order(b, a);
    if (a->kind == DH_STEP_FLUSH || b->kind == DH_STEP_FLUSH)
        return a->kind == DH_STEP_DRAIN || b->kind == DH_STEP_DRAIN;
    return is_store_of(a, b) || is_store_of(b, a);
}

/* ---- descriptors ---- */

/* Nothing is known of what it touches. */
static bool is_any_io(const struct dh_step *s)
{
    return !s->object && !s->second && !s->order;
}

static bool changes_io(const struct dh_step *s)
{
    return is_any_io(s) || s->order & (DH_IO_NUMBERS | DH_IO_CHANGES) ||
           (s->object && !(s->flags & (DH_STEP_SHARED | DH_STEP_FAILED)));
}

static bool depend_by_io(const struct dh_step *a, const struct dh_step *b)
{
    enum { COMMUTES = DH_STEP_SHARED | DH_STEP_FAILED };
    unsigned either = a->order | b->order, both = a->order & b->order;
    if (is_any_io(a) || is_any_io(b) || both & DH_IO_NUMBERS)
        return true;
    if (either & DH_IO_NUMBERS && a->second && a->second == b->second)
        return true;
    if ((a->order & DH_IO_CHANGES && b->order & DH_IO_WATCHES) ||
        (b->order & DH_IO_CHANGES && a->order & DH_IO_WATCHES))
        return true;
    return a->object && a->object == b->object && !(a->flags & COMMUTES && b->flags & COMMUTES);
}

bool dh_steps_depend(const struct dh_step *a, const struct dh_step *b)
{
    unsigned of_a = touched(a), of_b = touched(b);
    if ((of_a | of_b) & ALL)
        return true;
    if (!of_a || !of_b)
        return false;
    if (of_a & of_b & THREAD && a->object == b->object)
        return true;
    if (of_a & of_b & THREADS || (of_a & of_b & IO && depend_by_io(a, b)))
        return true;
    if (of_a & of_b & SYNC && depend_at(a, b, a->object))
        return true;
    if ((of_a | of_b) & SECOND && (depend_at(a, b, a->second) || depend_at(a, b, b->object)))
        return true;
    if (of_a & (MEMORY | FREES) && of_b & (MEMORY | FREES) && bytes_conflict(a, b))
        return true;
    if (of_a & of_b & BUFFER && depend_in_buffer(a, b))
        return true;
    if ((of_a | of_b) & FREES && is_buffered_store(of_a & FREES ? b : a) && overlap(to(a), to(b)))
        return true;
    return (of_a | of_b) & FREES && (frees_object(a, b) || frees_object(b, a));
}

/* ---- for strategies ---- */

enum { GRANULE_SHIFT = 3 };
#define KEY_THREAD ((uint64_t)1 << 63)
#define KEY_THREADS ((uint64_t)1 << 62)
#define KEY_IO ((uint64_t)1 << 61)
#define KEY_NUMBER (KEY_IO | (uint64_t)1 << 56)
#define KEY_NUMBERS (KEY_IO | (uint64_t)2 << 56)
#define KEY_READY (KEY_IO | (uint64_t)3 << 56)
#define KEY_OBJECT_MASK (((uint64_t)1 << 56) - 1)
#define KEY_BUFFER ((uint64_t)1 << 60)

static unsigned add_bytes(uint64_t *keys, unsigned n, struct bytes b)
{
    for (uint64_t k = b.at >> GRANULE_SHIFT; n < DH_STEP_WIDE && k <= (b.at + b.size - 1) >> GRANULE_SHIFT; k++) {
        if (n < DH_STEP_KEYS)
            keys[n] = k;
        n++;
    }
    return n;
}

static unsigned io_keys(const struct dh_step *s, uint64_t *keys)
{
    unsigned n = 0;
    if (is_any_io(s))
        return DH_STEP_WIDE;
    if (s->object)
        keys[n++] = KEY_IO | (s->object & KEY_OBJECT_MASK);
    if (s->second)
        keys[n++] = KEY_NUMBER | (s->second & KEY_OBJECT_MASK);
    if (s->order & DH_IO_NUMBERS)
        keys[n++] = KEY_NUMBERS;
    if (s->order & (DH_IO_CHANGES | DH_IO_WATCHES))
        keys[n++] = KEY_READY;
    return n;
}

unsigned dh_step_keys(const struct dh_step *s, uint64_t keys[DH_STEP_KEYS])
{
    unsigned t = touched(s), n = 0;
    if (t & ALL)
        return DH_STEP_WIDE;
    if (t & IO)
        return io_keys(s, keys);
    if (t & (MEMORY | FREES) || is_buffered_store(s))
        n = add_bytes(keys, n, to(s));
    if (t & MEMORY && has_source(s))
        n = add_bytes(keys, n, from(s));
    if (n > DH_STEP_KEYS - 2)
        return n > DH_STEP_KEYS || t & BUFFER ? DH_STEP_WIDE : n;
    if (t & SYNC && !(t & MEMORY))
        keys[n++] = s->object >> GRANULE_SHIFT;
    if (t & SECOND && s->second)
        keys[n++] = s->second >> GRANULE_SHIFT;
    if (t & THREAD)
        keys[n++] = KEY_THREAD | s->object;
    if (t & THREADS)
        keys[n++] = KEY_THREADS;
    if (t & BUFFER)
        keys[n++] = KEY_BUFFER | dh_step_buffer_number(s);
    return n;
}

bool dh_step_changes(const struct dh_step *s)
{
    unsigned t = touched(s);
    if (t & IO)
        return changes_io(s);
    if (t & (ALL | FREES | THREAD | THREADS | SECOND | BUFFER))
        return true;
    if (t & SYNC && !(s->flags & DH_STEP_FAILED))
        return true;
    return t & MEMORY && writes(s);
}

static bool covers(struct bytes a, struct bytes b)
{
    return b.at - a.at < a.size && b.at + b.size - a.at <= a.size;
}

/* With such a key `early` depends on every step that has it. */
static bool hides_io(const struct dh_step *early, uint64_t key)
{
    if (touched(early) != IO)
        return false;
    if (key == KEY_NUMBERS)
        return true;
    if (early->order & DH_IO_NUMBERS && key == (KEY_NUMBER | (early->second & KEY_OBJECT_MASK)))
        return true;
    return key == (KEY_IO | (early->object & KEY_OBJECT_MASK)) && !(early->flags & (DH_STEP_SHARED | DH_STEP_FAILED));
}

bool dh_step_hides(const struct dh_step *early, const struct dh_step *late, uint64_t key)
{
    unsigned t = touched(late);
    if (t & BUFFER) /* also depends on its own store, with which others are independent */
        return false;
    if (t == MEMORY)
        return touched(early) & MEMORY && !(touched(early) & SYNC) && writes(early) && !has_source(late) &&
               covers(to(early), to(late));
    if (t & IO)
        return hides_io(early, key);
    if (key & (KEY_THREAD | KEY_THREADS))
        return true; /* all with such a key depend on each other */
    if (!(t & SYNC) || t & MEMORY || early->kind == DH_STEP_SEM_POST)
        return false;
    uint64_t object = late->object >> GRANULE_SHIFT == key ? late->object : late->second;
    return use_of(early, object) == USE_EXCLUSIVE;
}

/* A step that got a lock or a semaphore's count shows that it was available. */
bool dh_step_could_precede(const struct dh_step *late, const struct dh_step *early)
{
    enum { PERHAPS = DH_STEP_TRY | DH_STEP_TIMED | DH_STEP_FAILED };
    if (late->flags & (DH_STEP_TRY | DH_STEP_FAILED))
        return true;
    switch (late->kind) {
    case DH_STEP_LOCK:
        if (early->flags & (DH_STEP_SHARED | PERHAPS))
            return false;
        return early->kind == DH_STEP_LOCK || (early->kind == DH_STEP_WAKE && early->second == late->object);
    case DH_STEP_SEM_WAIT:
        return early->kind == DH_STEP_SEM_WAIT && !(early->flags & PERHAPS);
    case DH_STEP_WAKE:
    case DH_STEP_BARRIER:
    case DH_STEP_ONCE:
    case DH_STEP_BEGIN:
    case DH_STEP_JOIN:
    case DH_STEP_FUTEX_WAIT:
    case DH_STEP_FLUSH:
    case DH_STEP_DELIVER:
    case DH_STEP_IO: /* may block on input */
        return false;
    default:
        return true;
    }
}

static uint64_t released_lock(const struct dh_step *s)
{
    return s->kind == DH_STEP_UNLOCK ? s->object : s->kind == DH_STEP_WAIT ? s->second : 0;
}

static uint64_t acquired_lock(const struct dh_step *s)
{
    return s->kind == DH_STEP_LOCK ? s->object : s->kind == DH_STEP_WAKE ? s->second : 0;
}

bool dh_step_needs(const struct dh_step *late, const struct dh_step *early)
{
    if (late->flags & (DH_STEP_TRY | DH_STEP_TIMED | DH_STEP_FAILED) || early->flags & DH_STEP_FAILED)
        return false;
    if (late->kind == DH_STEP_BEGIN || late->kind == DH_STEP_JOIN)
        return early->kind == (late->kind == DH_STEP_BEGIN ? DH_STEP_CREATE : DH_STEP_END);
    if (late->kind == DH_STEP_DRAIN && early->kind == DH_STEP_DRAIN && early->second > late->second)
        return false; /* it has overtaken */
    if (late->kind == DH_STEP_DRAIN || late->kind == DH_STEP_FLUSH)
        return touched(early) & BUFFER && depend_in_buffer(early, late);
    return released_lock(early) && released_lock(early) == acquired_lock(late);
}
