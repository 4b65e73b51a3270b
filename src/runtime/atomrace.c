/* AtomRace's hooks: collisions on primitive sections (001 Fig. 2), sections from a file (Fig. 3), and pairs of accesses
 * that others came between. The rules are detect/atomrace*.h's; here is what a process adds: threads, contexts, signal
 * handlers, reports. */
#include "runtime/public_hooks.h"

#include "runtime/atomrace.h"

#include "detect/atomrace.h"
#include "detect/atomrace_sections.h"
#include "event/mark.h"
#include "event/sections.h"
#include "event/site.h"
#include "runtime/alloc.h"
#include "runtime/atomrace_fast.h"
#include "runtime/bytes.h"
#include "runtime/context.h"
#include "runtime/frames.h"
#include "runtime/noise.h"
#include "runtime/options.h"
#include "runtime/print.h"
#include "runtime/race_edges.h"
#include "runtime/raw_syscall.h"
#include "runtime/record.h"
#include "runtime/report.h"
#include "runtime/spin.h"
#include "runtime/start.h"
#include "runtime/threads.h"
#include "runtime/vector_state.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

enum { CONTEXTS = 64, PIECES = 8, LAST = 256, ACTIVATIONS = 1024, INTENDED = 64 };
enum { SLOW_AT_FIRST = 200000, BURST = 64, BETWEEN_BURSTS = 64 };

bool dh_atom_listens;
static bool on;         /* the detector was asked for */
static bool collides;   /* accesses are followed at all */
static bool pairs_on;   /* pairs of accesses are kept: for what came between, or for noise */
static bool pairs_told; /* and what came between is told */
static bool train;      /* whatever lies between */

struct dh_atom_table dh_atom_writes;
static struct dh_atom_table reads; /* by whom the last write was read first */
static struct dh_atom_thread *_Atomic threads[DH_ATOM_THREADS];
static _Atomic uint32_t n_threads;

/* The access of a thread before the present one, to the same bytes. */
struct last {
    uintptr_t addr;
    uint32_t size, place, context, spot;
    bool write;
    uint32_t locks; /* held */
    uint64_t activation, passed;
    uint32_t others;         /* other synchronisations so far */
    uint64_t writer, reader; /* what the tables said behind it */
};

/* What a thread keeps, from its first access on. */
struct self {
    struct dh_atom_thread atom; /* first: of the table of threads */
    struct self *next_free;
    uint32_t index; /* of the thread; another's word is looked up by slot */
    /* the access between its events */
    bool open;
    uint32_t n_pieces, place, spot;
    struct dh_atom_piece piece[PIECES];
    struct dh_atom_met met;
    struct dh_atom_access access;
    uint32_t in_sections; /* watches of its own, at most */
    uint64_t n_activations, activation[ACTIVATIONS];
    struct {
        uint64_t value;
        uint32_t id;
    } context[CONTEXTS];
    uint64_t n_slow; /* accesses that did not take the quick way */
    uint32_t burst;  /* so many more will not */
    uint32_t n_passed;
    struct last last[LAST];
};

static __thread struct self *self;
static __thread bool busy;        /* a signal handler must leave us alone */
static __thread bool ended;       /* the thread's last rites are done */
static __thread bool interrupted; /* a signal handler came since the last collision of a quick read */
static __thread int ignoring;     /* depth */
static __thread uint32_t locks;   /* held */
static __thread uint64_t passed;  /* locks taken and given */

/* ---- threads ---- */

static struct self *free_selves;
static dh_spin free_lock = DH_SPIN_INIT;

static struct self *take_free(void)
{
    dh_spin_lock(&free_lock);
    struct self *s = free_selves;
    if (s)
        free_selves = s->next_free;
    dh_spin_unlock(&free_lock);
    return s;
}

/* Slots are used again, with the numbers going on: no word of the thread before names a write of the new one. */
static struct self *become(void)
{
    struct self *s = take_free();
    if (!s) {
        uint32_t slot = atomic_fetch_add(&n_threads, 1);
        s = slot < DH_ATOM_THREADS ? dh_alloc_forever(sizeof *s) : NULL;
        if (!s)
            return NULL;
        s->atom.slot = slot;
        atomic_store_explicit(&threads[slot], &s->atom, memory_order_release);
    }
    __atomic_store_n(&s->index, __dh_thread.index, __ATOMIC_RELEASE);
    s->open = false;
    s->in_sections = 0;
    dh_bytes_zero(s->last, sizeof s->last);
    dh_bytes_zero(s->context, sizeof s->context);
    return self = s;
}

static void close_window(struct self *s)
{
    if (!s->open)
        return;
    s->open = false;
    for (uint32_t i = 0; i < s->n_pieces; i++)
        if (s->piece[i].mine & DH_ATOM_ACTIVE)
            dh_atom_abandon(&s->piece[i]);
    s->n_pieces = 0;
}

/* ---- contexts and activations ---- */

static uint32_t context_now(struct self *s)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    uint64_t value = depth ? __dh_thread.frames[depth - 1].context : 1;
    uint32_t at = (uint32_t)(value >> 32 ^ value) % CONTEXTS;
    if (s->context[at].value != value) {
        s->context[at].id = dh_context_intern(&__dh_thread);
        s->context[at].value = value;
    }
    return s->context[at].id;
}

static uintptr_t frame_now(void)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    return depth ? __dh_thread.frames[depth - 1].frame & ~(uintptr_t)1 : 0;
}

/* A frame that is pushed has its lowest bit clear: set, it says that this activation has its number. */
static uint64_t activation_now(struct self *s)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    if (!depth)
        return 0;
    uint64_t *number = &s->activation[depth % ACTIVATIONS];
    struct dh_frame *f = &__dh_thread.frames[depth - 1];
    if (!(f->frame & 1)) {
        f->frame |= 1;
        *number = ++s->n_activations;
    }
    return *number;
}

/* ---- reports ---- */

static struct {
    uintptr_t addr;
    size_t size;
} intended[INTENDED];
static _Atomic uint32_t n_intended;

void dh_atom_intended(uintptr_t addr, size_t size)
{
    uint32_t i = dh_atom_listens ? atomic_fetch_add(&n_intended, 1) : INTENDED;
    if (i >= INTENDED)
        return;
    intended[i].size = size;
    __atomic_store_n(&intended[i].addr, addr, __ATOMIC_RELEASE);
}

static bool is_intended(uintptr_t addr, uint32_t size)
{
    uint32_t n = atomic_load(&n_intended);
    for (uint32_t i = 0; i < n && i < INTENDED; i++) {
        uintptr_t from = __atomic_load_n(&intended[i].addr, __ATOMIC_ACQUIRE);
        if (from && addr >= from && addr + size <= from + intended[i].size)
            return true;
    }
    /* With more than can be kept, nothing is sure. */
    return n > INTENDED;
}

void dh_atom_ignore(int by)
{
    ignoring += by;
    if (ignoring < 0)
        ignoring = 0;
}

static void describe(struct dh_report_access *a, uint32_t thread, const struct dh_atom_access *from)
{
    uint32_t place = from->place;
    *a = (struct dh_report_access){.thread = thread, .addr = from->addr, .size = from->size, .context = from->context};
    a->flags = from->write ? DH_ACCESS_WRITE : 0;
    a->module = dh_module_of_place(&place);
    a->place = place;
}

static void overlap(const struct dh_atom_access *a, const struct dh_atom_access *b, struct dh_report *r)
{
    uintptr_t from = a->addr > b->addr ? a->addr : b->addr;
    uintptr_t a_end = a->addr + a->size, b_end = b->addr + b->size, end = a_end < b_end ? a_end : b_end;
    r->addr = from < end ? from : a->addr;
    r->size = from < end ? (uint32_t)(end - from) : a->size;
}

/* The report takes its time. If the access is still to come, whoever runs into it meanwhile collides as well. */
static void tell(struct dh_report *r)
{
    struct dh_block block;
    if (is_intended(r->addr, r->size) || dh_report_is_known(r))
        return;
    if (dh_race_on && dh_race_enter(__dh_thread.race)) {
        bool meant = dh_race_is_intended(r->addr, r->size);
        if (dh_block_around(r->addr, &block)) {
            r->block = block.at;
            r->n_block = block.size;
            r->block_thread = block.thread;
            r->block_context = block.context;
        }
        dh_race_leave(__dh_thread.race);
        if (meant)
            return;
    }
    struct dh_vector_state saved;
    dh_vector_save(&saved);
    dh_report(r);
    dh_vector_restore(&saved);
}

static uint32_t index_of(const struct dh_atom_thread *t)
{
    return __atomic_load_n(&((const struct self *)t)->index, __ATOMIC_ACQUIRE);
}

static bool recall(uint64_t word, struct dh_atom_access *out, uint32_t *thread)
{
    struct dh_atom_thread *t = atomic_load_explicit(&threads[dh_atom_slot(word)], memory_order_acquire);
    if (!t || !dh_atom_recall(t, word, out))
        return false;
    *thread = index_of(t);
    return true;
}

static _Atomic uint32_t n_collisions, n_broken;

static void collided(const struct dh_atom_access *mine, uint64_t word)
{
    struct dh_atom_access other;
    struct dh_report_access accesses[2];
    uint32_t thread;
    if (!recall(word, &other, &thread))
        return;
    struct dh_report r = {.kind = DH_REPORT_RACE, .detector = "atomrace", .access = accesses, .n_accesses = 2};
    r.text = "both threads were between the events before and after these accesses at the same time";
    describe(&accesses[0], __dh_thread.index, mine);
    describe(&accesses[1], thread, &other);
    overlap(mine, &other, &r);
    atomic_fetch_add_explicit(&n_collisions, 1, memory_order_relaxed);
    if (dh_noise_by_pair)
        dh_noise_met(mine->place, other.place);
    if (!on || dh_report_is_known(&r))
        return;
    if (dh_record_on) {
        struct dh_record_met met[2] = {
            {mine->addr, mine->size, mine->place, mine->context, __dh_thread.index, mine->write},
            {other.addr, other.size, other.place, other.context, thread, other.write}};
        dh_record_collision(&met[0], &met[1]);
    }
    tell(&r);
}

/* ---- sections ---- */

static struct dh_sections sections;
static bool *is_local; /* by section */
static struct dh_atom_monitor *monitor;
static dh_spin monitor_lock = DH_SPIN_INIT;

static void broken(const struct dh_atom_watch *w, unsigned allow, const struct dh_atom_access *end)
{
    const struct dh_atom_crossing *c = dh_atom_section_broken(w, allow);
    struct dh_report_access accesses[3];
    char text[DH_PRINT_BUFFER];
    if (!c)
        return;
    atomic_fetch_add_explicit(&n_broken, 1, memory_order_relaxed);
    struct dh_report r = {.kind = DH_REPORT_ATOMICITY, .detector = "atomrace", .access = accesses, .n_accesses = 3};
    describe(&accesses[0], w->thread, &w->entry);
    describe(&accesses[1], c->thread, &c->access);
    describe(&accesses[2], w->thread, end);
    accesses[0].note = "enters the section";
    accesses[1].note = "comes between";
    accesses[2].note = "ends the section";
    overlap(&w->entry, &c->access, &r);
    dh_print_text(text, sizeof text, "section '%s' allows others %s until it ends here, and one %s",
                  sections.sections[w->section].name,
                  allow & DH_ALLOW_READ    ? "only reads"
                  : allow & DH_ALLOW_WRITE ? "only writes"
                                           : "nothing",
                  c->access.write ? "wrote" : "read");
    r.text = text;
    tell(&r);
}

/* Before the access: what ends here. */
static void end_sections(struct self *s, uint32_t point, const struct dh_atom_access *a)
{
    for (uint32_t i = 0; i < sections.n_points; i++) {
        const struct dh_section_point *p = &sections.points[i];
        struct dh_atom_watch w;
        if (p->site != point || p->role == DH_SECTION_ENTRY)
            continue;
        dh_spin_lock(&monitor_lock);
        bool ends = false;
        if (p->role == DH_SECTION_EXIT)
            dh_atom_section_leave(monitor, p->section, s->atom.slot);
        else
            ends = dh_atom_section_end(monitor, p->section, s->atom.slot, frame_now(), is_local[p->section], &w);
        dh_spin_unlock(&monitor_lock);
        if (ends) {
            w.thread = s->index;
            broken(&w, p->allow, a);
        }
    }
}

/* Behind it: what begins here. */
static bool begin_sections(struct self *s, uint32_t point, const struct dh_atom_access *a)
{
    bool any = false;
    for (uint32_t i = 0; i < sections.n_points; i++) {
        const struct dh_section_point *p = &sections.points[i];
        if (p->site != point || p->role != DH_SECTION_ENTRY)
            continue;
        dh_spin_lock(&monitor_lock);
        dh_atom_section_begin(monitor, p->section, s->atom.slot, frame_now(), a);
        dh_spin_unlock(&monitor_lock);
        s->in_sections = 1;
        any = true;
    }
    return any;
}

static void extend_sections(struct self *s, uint32_t variable, const struct dh_atom_access *a)
{
    for (uint32_t i = 0; i < sections.n_variables; i++)
        if (sections.variables[i].variable == variable) {
            dh_spin_lock(&monitor_lock);
            dh_atom_section_extend(monitor, sections.variables[i].section, s->atom.slot, a->addr, a->size);
            dh_spin_unlock(&monitor_lock);
        }
}

static void meet_sections(struct self *s, const struct dh_atom_access *a)
{
    s->met.n = 0;
    if (!dh_atom_is_watched(monitor, a->addr, a->size))
        return;
    dh_spin_lock(&monitor_lock);
    dh_atom_section_meet(monitor, s->atom.slot, a->addr, a->size, &s->met);
    dh_spin_unlock(&monitor_lock);
}

static void cross_sections(struct self *s, const struct dh_atom_access *a)
{
    if (!s->met.n)
        return;
    dh_spin_lock(&monitor_lock);
    dh_atom_section_cross(monitor, s->index, a, &s->met);
    dh_spin_unlock(&monitor_lock);
}

/* ---- pairs (AVIO's access interleaving invariants) ---- */

static struct last *last_of(struct self *s, uintptr_t addr)
{
    return &s->last[(addr >> 2 ^ addr >> 12) % LAST];
}

/* Whether the two accesses are taken to belong together: both are of one function, as the source has it, and the
 * second stands behind the first, since what a loop comes back to begins anew, and nothing lies between by which the
 * thread means to let others in. Where it synchronised, only two that no lock protects belong together. Training knows
 * better. */
static bool belong_together(const struct last *l, const struct dh_atom_access *a, uint32_t spot, uint64_t activation)
{
    if (l->addr != a->addr || l->size != a->size || l->activation != activation || !activation)
        return false;
    if (train)
        return l->spot != spot || l->write || a->write;
    if (l->spot >> DH_SPOT_BITS != spot >> DH_SPOT_BITS || l->spot >= spot || l->others != __dh_thread.atom_passed)
        return false;
    return l->passed == passed || (!l->locks && !locks);
}

static void came_between(const struct last *l, const struct dh_atom_access *a, uint64_t word)
{
    static const char *const cases[2][2][2] = {
        {{"", ""}, {"read, written by another, read", "read, written by another, written"}},
        {{"", "written, read by another, written"}, {"written, written by another, read", ""}}};
    struct dh_atom_access other, first = {l->addr, l->size, l->place, l->context, l->write};
    struct dh_report_access accesses[3];
    uint32_t thread;
    if (!recall(word, &other, &thread) || !pairs_told)
        return;
    struct dh_report r = {
        .kind = DH_REPORT_ATOMICITY, .suspected = true, .detector = "atomrace", .access = accesses, .n_accesses = 3};
    describe(&accesses[0], __dh_thread.index, &first);
    describe(&accesses[1], thread, &other);
    describe(&accesses[2], __dh_thread.index, a);
    accesses[1].note = "comes between";
    r.unsaid = train;
    overlap(a, &other, &r);
    char text[DH_PRINT_BUFFER];
    dh_print_text(text, sizeof text,
                  "one activation of a function has the variable %s: no order one after the other "
                  "gives that",
                  cases[l->write][other.write][a->write]);
    r.text = text;
    tell(&r);
}

static bool is_new(uint64_t now, uint64_t then, uint64_t mine, uint32_t slot)
{
    return (now ^ then) & (DH_ATOM_TAG | DH_ATOM_WHO) && !(now & DH_ATOM_ACTIVE) && dh_atom_touches(now, mine, slot);
}

static void tell_pair(uint64_t word, const struct dh_atom_access *a)
{
    struct dh_atom_access other;
    uint32_t thread;
    dh_noise_pair(recall(word, &other, &thread) ? other.place : UINT32_MAX, a->place);
}

/* Before the access, with what the table said then. Of the eight cases four cannot be put one after the other. */
static void look_back(struct self *s, const struct dh_atom_access *a, uint64_t mine, uint64_t writer)
{
    const struct last *l = last_of(s, a->addr);
    uint64_t reader = __atomic_load_n(dh_atom_cell(&reads, a->addr), __ATOMIC_ACQUIRE);
    uint32_t slot = s->atom.slot;
    bool again = l->addr == a->addr && l->size == a->size;
    if (dh_noise_by_pair && is_new(writer, again ? l->writer : 0, mine, slot))
        tell_pair(writer, a);
    if (dh_noise_by_pair && a->write && is_new(reader, again ? l->reader : 0, mine, slot))
        tell_pair(reader, a);
    if (!belong_together(l, a, s->spot, activation_now(s)))
        return;
    if (!(l->write && a->write) && is_new(writer, l->writer, mine, slot))
        came_between(l, a, writer);
    else if (l->write && a->write && is_new(reader, l->reader, mine, slot))
        came_between(l, a, reader);
}

/* Behind the access. A reader says so once for every write it finds, if nobody wrote while it read. */
static void remember(struct self *s, const struct dh_atom_access *a, const struct dh_atom_piece *p)
{
    struct last *l = last_of(s, a->addr);
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    uint64_t *reader = dh_atom_cell(&reads, a->addr);
    bool known = l->addr == a->addr && l->size == a->size && !((l->writer ^ now) & (DH_ATOM_TAG | DH_ATOM_WHO));
    if (!a->write && !known && now == p->seen && !(now & DH_ATOM_ACTIVE) &&
        dh_atom_touches(now, p->mine, s->atom.slot)) {
        dh_atom_note(&s->atom, a);
        __atomic_store_n(reader,
                         dh_atom_word(a->addr, a->size) | (uint64_t)s->atom.slot << DH_ATOM_NUMBER_BITS |
                             (s->atom.number & ((1u << DH_ATOM_NUMBER_BITS) - 1)),
                         __ATOMIC_RELEASE);
    }
    *l = (struct last){.addr = a->addr,
                       .size = a->size,
                       .place = a->place,
                       .context = a->context,
                       .spot = s->spot,
                       .write = a->write,
                       .locks = locks,
                       .activation = activation_now(s),
                       .passed = passed,
                       .others = __dh_thread.atom_passed,
                       .writer = now,
                       .reader = __atomic_load_n(reader, __ATOMIC_ACQUIRE)};
}

/* ---- hooks ---- */

static bool enter(void)
{
    if (busy || ended || ignoring)
        return false;
    busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(!self, 0) && (!dh_atom_listens || !__dh_thread.thread || !become())) {
        busy = false;
        return false;
    }
    return true;
}

static void leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    busy = false;
}

/* Every eight bytes of it, up to as many as there is room for: of a long range the beginning. */
static void add_pieces(struct self *s, uintptr_t addr, size_t size)
{
    uintptr_t end = addr + size;
    while (addr < end && s->n_pieces < PIECES) {
        uintptr_t next = (addr & ~(uintptr_t)7) + 8;
        uint32_t n = (uint32_t)((next < end ? next : end) - addr);
        s->piece[s->n_pieces++] =
            (struct dh_atom_piece){.cell = dh_atom_cell(&dh_atom_writes, addr), .mine = dh_atom_word(addr, n)};
        addr = next;
    }
}

static uint64_t open_pieces(struct self *s, uint32_t from, bool write)
{
    uint64_t met = 0;
    for (uint32_t i = from; i < s->n_pieces; i++) {
        uint64_t word =
            write ? dh_atom_before_write(&s->piece[i], &s->atom) : dh_atom_before_read(&s->piece[i], &s->atom);
        met = word ? word : met;
    }
    return met;
}

static uint64_t close_pieces(struct self *s)
{
    uint64_t met = 0;
    for (uint32_t i = 0; i < s->n_pieces; i++) {
        const struct dh_atom_piece *p = &s->piece[i];
        uint64_t word = p->mine & DH_ATOM_ACTIVE ? dh_atom_after_write(p, &s->atom) : dh_atom_after_read(p, &s->atom);
        met = word ? word : met;
    }
    s->n_pieces = 0;
    return met;
}

static void before(struct self *s, const struct dh_atom_access *given, uint32_t mark)
{
    close_window(s); /* one that a signal handler interrupted, or that was left by longjmp */
    struct dh_atom_access a = *given;
    bool with_context = a.write || pairs_on || mark >> DH_MARK_POINT_SHIFT;
    if (with_context)
        a.context = context_now(s);
    s->place = a.place;
    s->n_pieces = 0;
    s->met.n = 0;
    uint64_t met = 0;
    if (collides && mark & DH_MARK_COLLIDE) {
        add_pieces(s, a.addr, a.size);
        if (a.write)
            dh_atom_note(&s->atom, &a);
        met = open_pieces(s, 0, a.write);
    }
    s->access = a;
    s->open = true;
    if (met) {
        if (!with_context)
            a.context = s->access.context = context_now(s);
        collided(&a, met);
    }
    if (pairs_on && s->n_pieces == 1)
        look_back(s, &a, s->piece[0].mine, s->piece[0].seen);
}

/* Who wrote while the access was held up came between it and the one before, besides that the two met. */
static void look_back_again(struct self *s)
{
    const struct dh_atom_piece *p = &s->piece[0];
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    if (now != p->mine && now != p->seen)
        look_back(s, &s->access, p->mine, now);
}

/* When all delays are over: what ends here has lasted as long as it could, and the access follows at once. */
static void before_at_last(struct self *s, uint32_t mark)
{
    if (dh_mark_point(mark))
        end_sections(s, dh_mark_point(mark) - 1, &s->access);
    if (dh_mark_variable(mark))
        meet_sections(s, &s->access);
}

static void after(struct self *s, uint32_t mark, uint32_t place)
{
    if (!s->open || s->place != place)
        return;
    struct dh_atom_access *a = &s->access;
    struct dh_atom_piece first = s->piece[0];
    bool one = s->n_pieces == 1;
    uint64_t met = close_pieces(s);
    s->open = false;
    if (met) {
        if (!a->context)
            a->context = context_now(s);
        collided(a, met);
    }
    if (pairs_on && one)
        remember(s, a, &first);
    if (!monitor)
        return;
    cross_sections(s, a);
    if (s->in_sections && dh_mark_variable(mark))
        extend_sections(s, dh_mark_variable(mark) - 1, a);
    if (dh_mark_point(mark) && begin_sections(s, dh_mark_point(mark) - 1, a) && dh_noise_on)
        dh_noise_at_access(mark, place, locks); /* inside the section */
}

/* An atomic synchronises, or may. */
static bool is_atomic(uint64_t what)
{
    return (what >> 8 & 0xFF) != DH_ORDER_NONE;
}

/* Pairs are followed from the beginning, and later in bursts, which begin where the thread synchronises: between them,
 * reads take the quick way. */
static void set_pace(struct self *s)
{
    bool slow = dh_noise_on || (pairs_on && s->n_slow < SLOW_AT_FIRST) || (pairs_on && s->burst);
    s->n_slow++;
    s->burst -= s->burst > 0;
    __dh_thread.atom_quick = !slow;
}

uint64_t dh_atom_before_slow(void *addr, uint64_t what, uint32_t spot, uint32_t place)
{
    uint32_t mark = (uint32_t)(what >> 32);
    if (is_atomic(what)) {
        dh_atom_pass(DH_PASS_OTHER);
        return DH_ATOM_SLOW;
    }
    if (!enter())
        return DH_ATOM_SLOW;
    self->spot = spot;
    struct dh_atom_access a = {
        .addr = (uintptr_t)addr, .size = what >> 16 & 0xFFFF, .place = place, .write = (what & 0xFF) == DH_OP_WRITE};
    before(self, &a, mark);
    if (dh_noise_on)
        dh_noise_at_access(mark, place, locks);
    if (dh_noise_on && pairs_told && !train && self->n_pieces == 1)
        look_back_again(self);
    if (monitor)
        before_at_last(self, mark);
    set_pace(self);
    leave();
    return DH_ATOM_SLOW;
}

/* A read went the quick way, and the word changed meanwhile. A signal handler may have synchronised in the middle: then
 * nothing is known. */
static void after_quick(uintptr_t addr, uint32_t size, uint64_t token, uint32_t place)
{
    struct dh_atom_piece p = {
        .cell = dh_atom_cell(&dh_atom_writes, addr), .mine = dh_atom_word(addr, size), .seen = token};
    uint64_t met = dh_atom_after_read(&p, &self->atom);
    if (met && !interrupted) {
        struct dh_atom_access a = {.addr = addr, .size = size, .place = place, .context = context_now(self)};
        collided(&a, met);
    }
    interrupted = false;
}

void dh_atom_after_slow(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place)
{
    (void)spot;
    if (token == DH_ATOM_SLOW && (!self || !self->open))
        return;
    if (!enter())
        return;
    if (token == DH_ATOM_SLOW)
        after(self, (uint32_t)(what >> 32), place);
    else if (on)
        after_quick((uintptr_t)addr, what >> 16 & 0xFFFF, token, place);
    leave();
}

/* For libraries, and programs that are not optimised. */
uint64_t __dh_atom_before(void *addr, uint64_t what, uint32_t spot, uint32_t place)
{
    return dh_atom_before_slow(addr, what, spot, place);
}

void __dh_atom_after(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place)
{
    dh_atom_after_slow(addr, what, token, spot, place);
}

/* The inline quick ways call these with the convention preserve_most, which gcc does not know: all registers but r11
 * and the one of the answer stay as they were. The first eight bytes are room for the answer, or keep rax. */
#define PUSH(r) "push %" r "\n.cfi_adjust_cfa_offset 8\n"
#define POP(r) "pop %" r "\n.cfi_adjust_cfa_offset -8\n"
#define PRESERVING(name, function, answer)                                                                             \
    __asm__(".text\n.globl " name "\n.hidden " name "\n.type " name ", @function\n" name                               \
            ":\n.cfi_startproc\n" PUSH("rax") PUSH("rax") PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8")   \
                PUSH("r9") PUSH("r10") "call " function "\n" answer POP("r10") POP("r9") POP("r8") POP("rdi")          \
                    POP("rsi") POP("rdx") POP("rcx") POP("rax") POP("r11") "ret\n.cfi_endproc\n.size " name            \
                                                                           ", .-" name "\n")
PRESERVING("__dh_atom_before_slow", "dh_atom_before_slow", "mov %rax, 56(%rsp)\n");
PRESERVING("__dh_atom_after_slow", "dh_atom_after_slow", "");

void dh_atom_interrupted(void)
{
    interrupted = true;
}

/* A copy reads and writes in one access: its events are those of both. */
void __dh_atom_before_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place)
{
    uint32_t mark = (uint32_t)(what >> 32);
    (void)spot;
    if (!size || !enter())
        return;
    struct self *s = self;
    struct dh_atom_access a = {
        .addr = (uintptr_t)dst, .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, .place = place, .write = true};
    uint64_t met = 0;
    close_window(s);
    s->n_pieces = 0;
    s->met.n = 0;
    s->place = place;
    a.context = context_now(s);
    if (collides && mark & DH_MARK_COLLIDE) {
        add_pieces(s, a.addr, size < 32 ? size : 32);
        dh_atom_note(&s->atom, &a);
        met = open_pieces(s, 0, true);
        s->access = a;
        if (src) {
            uint32_t from = s->n_pieces;
            add_pieces(s, (uintptr_t)src, size < 32 ? size : 32);
            uint64_t read = open_pieces(s, from, false);
            if (read) {
                struct dh_atom_access r = a;
                r.addr = (uintptr_t)src;
                r.write = false;
                collided(&r, read);
            }
        }
    }
    s->access = a;
    s->open = true;
    if (met)
        collided(&a, met);
    if (dh_noise_on)
        dh_noise_at_access(mark, place, locks);
    leave();
}

void __dh_atom_after_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place)
{
    (void)dst, (void)size, (void)what, (void)spot;
    if (!self || !self->open || !enter())
        return;
    struct self *s = self;
    if (s->place == place) {
        uint64_t met = 0;
        s->open = false;
        for (uint32_t i = 0; i < s->n_pieces; i++) {
            const struct dh_atom_piece *p = &s->piece[i];
            bool write = p->mine & DH_ATOM_ACTIVE;
            uint64_t word = write ? dh_atom_after_write(p, &s->atom) : dh_atom_after_read(p, &s->atom);
            if (word && write)
                met = word;
            if (word && !write) {
                struct dh_atom_access r = s->access;
                r.addr = (uintptr_t)src;
                r.write = false;
                collided(&r, word);
            }
        }
        s->n_pieces = 0;
        if (met)
            collided(&s->access, met);
    }
    leave();
}

/* ---- what others tell ---- */

void dh_atom_passed(enum dh_passing how)
{
    if (busy || ended)
        return;
    passed += how != DH_PASS_OTHER;
    if (how == DH_PASS_LOCK)
        locks++;
    else if (how == DH_PASS_UNLOCK)
        locks -= locks > 0;
    else
        __dh_thread.atom_passed++;
    if (self && self->open) {
        busy = true;
        close_window(self);
        busy = false;
    }
    if (self && pairs_on && ++self->n_passed % BETWEEN_BURSTS == 0) {
        self->burst = BURST;
        __dh_thread.atom_quick = 0;
    }
    if (dh_noise_on && how != DH_PASS_LOCK)
        dh_noise_at_sync();
}

void dh_atom_thread_ends(void)
{
    struct self *s = self;
    ended = true;
    dh_noise_thread_ends();
    if (!s)
        return;
    close_window(s);
    if (monitor) {
        dh_spin_lock(&monitor_lock);
        dh_atom_section_leave(monitor, UINT32_MAX, s->atom.slot);
        dh_spin_unlock(&monitor_lock);
    }
    self = NULL;
    dh_spin_lock(&free_lock);
    s->next_free = free_selves;
    free_selves = s;
    dh_spin_unlock(&free_lock);
}

void dh_atom_finish(void)
{
    if (dh_atom_listens)
        dh_print("deadheat: process %d: atomrace: %u collisions, %u broken sections; noise: %u delays\n",
                 dh_process.pid, atomic_load(&n_collisions), atomic_load(&n_broken), dh_noise_count());
}

/* Of the other threads nothing goes on here, whatever the tables say. */
void dh_atom_forked(void)
{
    if (!dh_atom_listens)
        return;
    dh_bytes_zero(&dh_atom_writes, sizeof dh_atom_writes);
    dh_bytes_zero(&reads, sizeof reads);
    atomic_flag_clear(&monitor_lock);
    atomic_flag_clear(&free_lock);
    if (monitor)
        dh_bytes_zero(monitor, sizeof *monitor);
    if (self)
        self->open = false;
}

/* ---- the beginning ---- */

static char *read_file(const char *path, size_t *n)
{
    long fd = dh_sys_open(path, O_RDONLY | O_CLOEXEC, 0), got = 0;
    long size = fd < 0 ? -1 : dh_syscall3(SYS_lseek, fd, 0, SEEK_END);
    char *text = size >= 0 ? dh_alloc_forever((size_t)size + 1) : NULL;
    if (fd >= 0)
        dh_syscall3(SYS_lseek, fd, 0, SEEK_SET);
    for (*n = 0; text && *n < (size_t)size; *n += (size_t)got)
        if ((got = dh_syscall3(SYS_read, fd, (long)(text + *n), size - (long)*n)) <= 0)
            break;
    if (fd >= 0)
        dh_sys_close((int)fd);
    return got < 0 ? NULL : text;
}

/* The part of a selection behind its line `sections`. */
static const char *sections_in(const char *text, size_t *n)
{
    for (const char *at = text, *end = text + *n; at < end;) {
        const char *line = at;
        while (at < end && *at != '\n')
            at++;
        at += at < end;
        if (dh_text_after(line, "sections ")) {
            *n = (size_t)(end - at);
            return at;
        }
    }
    return NULL;
}

/* Stable names say the function before the variable: equal up to the last ':', they are of one function. */
static bool same_function(const char *a, const char *b)
{
    size_t n = dh_text_length(a);
    while (n && a[n - 1] != ':')
        n--;
    size_t hash = n;
    while (a[hash] && a[hash] != '#')
        hash++;
    if (!n || !a[hash])
        return false;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static void find_local(void)
{
    for (uint32_t k = 0; k < sections.n_sections; k++) {
        const char *first = NULL;
        is_local[k] = true;
        for (uint32_t i = 0; i < sections.n_points; i++) {
            const struct dh_section_point *p = &sections.points[i];
            if (p->section != k || p->role == DH_SECTION_EXIT)
                continue;
            if (!first)
                first = sections.sites[p->site];
            is_local[k] &= same_function(first, sections.sites[p->site]);
        }
    }
}

static void start_sections(void)
{
    struct dh_sections_error e = {.text = "it cannot be read"};
    size_t n = 0;
    const char *text = read_file(dh_options.selection, &n);
    const char *own = text ? sections_in(text, &n) : NULL;
    if (text && !own)
        return;
    if (!own || !dh_sections_read(&sections, own, n, dh_alloc_forever, &e)) {
        dh_print_stderr("deadheat: sections in %s: %u:%u: %s; none are watched\n", dh_options.selection, e.line,
                        e.column, e.text);
        return;
    }
    is_local = dh_alloc_forever(sections.n_sections + 1);
    monitor = sections.n_points && is_local ? dh_alloc_forever(sizeof *monitor) : NULL;
    if (monitor)
        find_local();
}

void dh_atom_start(void)
{
    on = dh_options_detects("atomrace");
    dh_noise_start();
    dh_atom_listens = on || dh_noise_on;
    if (!dh_atom_listens)
        return;
    if (on && dh_options.selection)
        start_sections();
    train = dh_options.train;
    pairs_told = on && dh_options.pairs;
    pairs_on = pairs_told || dh_noise_by_pair;
    collides = on || pairs_on;
}
