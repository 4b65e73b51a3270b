/* AtomRace's hooks: collisions of single accesses (001 Fig. 2); atomic sections (sections.c) and pairs of accesses
 * (access_pairs.c) build on them. The rules are in detect/atomrace*.h; here is what a process adds: threads, contexts,
 * signal handlers, healing. */
#include "runtime/core/public_hooks.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/atomrace/state.h"

#include "event/site.h"
#include "event/site_mark.h"
#include "runtime/atomrace/fast.h"
#include "runtime/atomrace/noise.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/threads.h"
#include "runtime/heal/heal.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/report/vector_state.h"

enum { SLOW_AT_START = 100000, BURST = 64, BETWEEN_BURSTS = 64 };

bool dh_atom_enabled;
struct dh_atom_modes dh_atom_modes;
struct dh_atom_table dh_atom_writes;

__thread uint32_t dh_atom_held;
__thread uint64_t dh_atom_n_lock_operations;
static __thread bool busy;        /* inside a hook: a signal handler's accesses are ignored */
static __thread bool ended;       /* the thread has exited for AtomRace */
static __thread bool interrupted; /* a signal handler ran since the last collision on the fast path */
static __thread int ignoring;     /* depth */

void dh_atom_ignore(int by)
{
    ignoring += by;
    if (ignoring < 0)
        ignoring = 0;
}

/* ---- hooks ---- */

static bool enter(void)
{
    if (busy || ended || ignoring)
        return false;
    busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(!dh_atom_current, 0) && (!dh_atom_enabled || !__dh_thread.thread || !dh_atom_thread_init())) {
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

/* Eight bytes each; of a long range only the beginning. */
static void add_pieces(struct dh_atom_thread_state *s, uintptr_t addr, size_t size)
{
    uintptr_t end = addr + size;
    while (addr < end && s->n_pieces < DH_ATOM_PIECES) {
        uintptr_t next = (addr & ~(uintptr_t)7) + 8;
        uint32_t n = (uint32_t)((next < end ? next : end) - addr);
        s->piece[s->n_pieces++] =
            (struct dh_atom_piece){.cell = dh_atom_cell(&dh_atom_writes, addr), .mine = dh_atom_word(addr, n)};
        addr = next;
    }
}

static uint64_t open_pieces(struct dh_atom_thread_state *s, uint32_t from, bool write)
{
    uint64_t collided = 0;
    for (uint32_t i = from; i < s->n_pieces; i++) {
        uint64_t word =
            write ? dh_atom_before_write(&s->piece[i], &s->atom) : dh_atom_before_read(&s->piece[i], &s->atom);
        collided = word ? word : collided;
    }
    return collided;
}

static uint64_t close_pieces(struct dh_atom_thread_state *s)
{
    uint64_t collided = 0;
    for (uint32_t i = 0; i < s->n_pieces; i++) {
        const struct dh_atom_piece *p = &s->piece[i];
        uint64_t word = p->mine & DH_ATOM_ACTIVE ? dh_atom_after_write(p, &s->atom) : dh_atom_after_read(p, &s->atom);
        collided = word ? word : collided;
    }
    s->n_pieces = 0;
    return collided;
}

void dh_atom_heal_read(void)
{
    enum { NAP = 20000 /* ns */ };
    struct dh_atom_thread_state *s = dh_atom_current;
    if (s->access.write)
        return;
    unsigned naps = (unsigned)dh_heal_patience_ms() * (1000000 / NAP);
    for (uint32_t i = 0; i < s->n_pieces; i++)
        for (unsigned n = 0; n < naps && dh_atom_before_read(&s->piece[i], &s->atom); n++)
            dh_heal_sleep(NAP);
    dh_heal_enter_late(s->access.place);
    open_pieces(s, 0, false);
}

static void before(struct dh_atom_thread_state *s, const struct dh_atom_access *given, uint32_t mark)
{
    dh_atom_close_window(s); /* of an access that a signal handler interrupted, or longjmp left */
    struct dh_atom_access a = *given;
    bool with_context = a.write || dh_atom_modes.pairs || mark >> DH_SITE_MARK_POINT_SHIFT;
    if (with_context)
        a.context = dh_atom_context_now(s);
    s->place = a.place;
    s->n_pieces = 0;
    s->overlapped.n = 0;
    uint64_t collided = 0;
    if (dh_atom_modes.collides && mark & DH_SITE_MARK_COLLIDE) {
        add_pieces(s, a.addr, a.size);
        if (a.write)
            dh_atom_record_write(&s->atom, &a);
        collided = open_pieces(s, 0, a.write);
    }
    s->access = a;
    s->open = true;
    if (collided) {
        if (!with_context)
            a.context = s->access.context = dh_atom_context_now(s);
        dh_atom_report_collision(&a, collided);
    }
    if (dh_atom_modes.pairs && s->n_pieces == 1)
        dh_atom_check_pair(s, &a, s->piece[0].mine, s->piece[0].seen);
}

/* A write during the noise interleaved the pair that this access completes, besides colliding with it. */
static void check_pair_again(struct dh_atom_thread_state *s)
{
    const struct dh_atom_piece *p = &s->piece[0];
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    if (now != p->mine && now != p->seen)
        dh_atom_check_pair(s, &s->access, p->mine, now);
}

/* A write during the delay of a read collides before the read happens, while that can still be healed. */
static void check_read_again(struct dh_atom_thread_state *s)
{
    uint64_t collided = 0;
    if (s->access.write || !dh_heal_is_auto())
        return;
    for (uint32_t i = 0; i < s->n_pieces; i++) {
        uint64_t word = dh_atom_after_read(&s->piece[i], &s->atom);
        collided = word ? word : collided;
    }
    if (collided)
        dh_atom_report_collision(&s->access, collided);
}

/* With `--heal=auto`: a read waits until the other thread has left the section. */
static bool wait_turn(struct dh_atom_thread_state *s)
{
    struct dh_vector_state saved;
    if (__builtin_expect(!dh_heal_out_of_turn, 1) || s->access.write)
        return false;
    dh_vector_save(&saved);
    bool waited = dh_heal_wait_turn();
    dh_heal_enter_late(s->access.place);
    dh_vector_restore(&saved);
    return waited;
}

/* After all delays: sections that end here have lasted as long as possible, and the access follows at once. */
static void before_sections(struct dh_atom_thread_state *s, uint32_t mark)
{
    if (dh_site_mark_point(mark))
        dh_atom_sections_end(s, dh_site_mark_point(mark) - 1, &s->access);
    if (dh_site_mark_variable(mark))
        dh_atom_sections_find_overlapped(s, &s->access);
}

static void after(struct dh_atom_thread_state *s, uint32_t mark, uint32_t place)
{
    if (!s->open || s->place != place)
        return;
    struct dh_atom_access *a = &s->access;
    struct dh_atom_piece first = s->piece[0];
    bool one = s->n_pieces == 1;
    uint64_t collided = close_pieces(s);
    s->open = false;
    if (collided) {
        if (!a->context)
            a->context = dh_atom_context_now(s);
        dh_atom_report_collision(a, collided);
    }
    if (dh_atom_modes.pairs && one)
        dh_atom_record_last(s, a, &first);
    if (!dh_atom_modes.sections)
        return;
    dh_atom_sections_interleave(s, a);
    if (s->in_sections && dh_site_mark_variable(mark))
        dh_atom_sections_extend(s, dh_site_mark_variable(mark) - 1, a);
    if (dh_site_mark_point(mark) && dh_atom_sections_begin(s, dh_site_mark_point(mark) - 1, a) && dh_noise_on)
        dh_noise_at_access(mark, place, dh_atom_held); /* inside the section */
}

/* Atomics count as synchronisation. */
static bool is_atomic(uint64_t what)
{
    return (what >> 8 & 0xFF) != DH_ORDER_NONE;
}

/* Pairs are checked at the start of a thread, later in bursts that begin where it synchronises; in between, reads take
 * the fast path. */
static void choose_path(struct dh_atom_thread_state *s)
{
    bool slow = dh_noise_on || (dh_atom_modes.pairs && s->n_slow < SLOW_AT_START) || (dh_atom_modes.pairs && s->burst);
    s->n_slow++;
    s->burst -= s->burst > 0;
    __dh_thread.atom_fast = !slow;
}

uint64_t dh_atom_before_slow(void *addr, uint64_t what, uint32_t spot, uint32_t place)
{
    uint32_t mark = (uint32_t)(what >> 32);
    if (is_atomic(what)) {
        if (dh_atom_enabled)
            dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
        return DH_ATOM_SLOW;
    }
    if (!enter())
        return DH_ATOM_SLOW;
    dh_atom_current->spot = spot;
    struct dh_atom_access a = {
        .addr = (uintptr_t)addr, .size = what >> 16 & 0xFFFF, .place = place, .write = (what & 0xFF) == DH_OP_WRITE};
    before(dh_atom_current, &a, mark);
    if (dh_noise_on)
        dh_noise_at_access(mark, place, dh_atom_held);
    if (wait_turn(dh_atom_current) || dh_noise_on)
        check_read_again(dh_atom_current);
    if (dh_noise_on && dh_atom_modes.reports_pairs && !dh_atom_modes.train && dh_atom_current->n_pieces == 1)
        check_pair_again(dh_atom_current);
    if (dh_atom_modes.sections)
        before_sections(dh_atom_current, mark);
    choose_path(dh_atom_current);
    leave();
    return DH_ATOM_SLOW;
}

/* A read took the fast path, and the word changed meanwhile. If a signal handler ran, which may have synchronised,
 * nothing follows. */
static void after_fast(uintptr_t addr, uint32_t size, uint64_t token, uint32_t place)
{
    struct dh_atom_piece p = {
        .cell = dh_atom_cell(&dh_atom_writes, addr), .mine = dh_atom_word(addr, size), .seen = token};
    uint64_t collided = dh_atom_after_read(&p, &dh_atom_current->atom);
    if (collided && !interrupted) {
        struct dh_atom_access a = {
            .addr = addr, .size = size, .place = place, .context = dh_atom_context_now(dh_atom_current)};
        dh_atom_report_collision(&a, collided);
    }
    interrupted = false;
}

void dh_atom_after_slow(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place)
{
    (void)spot;
    if (token == DH_ATOM_SLOW && (!dh_atom_current || !dh_atom_current->open))
        return;
    if (!enter())
        return;
    if (token == DH_ATOM_SLOW)
        after(dh_atom_current, (uint32_t)(what >> 32), place);
    else if (dh_atom_modes.on)
        after_fast((uintptr_t)addr, what >> 16 & 0xFFFF, token, place);
    leave();
}

/* For shared libraries and unoptimised programs. */
uint64_t __dh_atom_before(void *addr, uint64_t what, uint32_t spot, uint32_t place)
{
    return dh_atom_before_slow(addr, what, spot, place);
}

void __dh_atom_after(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place)
{
    dh_atom_after_slow(addr, what, token, spot, place);
}

/* The inline fast paths call these with the convention preserve_most, which gcc does not know: all registers but r11
 * and that of the result are preserved. The first eight bytes are room for the result, or keep rax. */
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

/* A copy reads and writes: its window is that of both accesses. */
void __dh_atom_before_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place)
{
    uint32_t mark = (uint32_t)(what >> 32);
    (void)spot;
    if (!size || !enter())
        return;
    struct dh_atom_thread_state *s = dh_atom_current;
    struct dh_atom_access a = {
        .addr = (uintptr_t)dst, .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, .place = place, .write = true};
    uint64_t collided = 0;
    dh_atom_close_window(s);
    s->n_pieces = 0;
    s->overlapped.n = 0;
    s->place = place;
    a.context = dh_atom_context_now(s);
    if (dh_atom_modes.collides && mark & DH_SITE_MARK_COLLIDE) {
        add_pieces(s, a.addr, size < 32 ? size : 32);
        dh_atom_record_write(&s->atom, &a);
        collided = open_pieces(s, 0, true);
        s->access = a;
        if (src) {
            uint32_t from = s->n_pieces;
            add_pieces(s, (uintptr_t)src, size < 32 ? size : 32);
            uint64_t read = open_pieces(s, from, false);
            if (read) {
                struct dh_atom_access r = a;
                r.addr = (uintptr_t)src;
                r.write = false;
                dh_atom_report_collision(&r, read);
            }
        }
    }
    s->access = a;
    s->open = true;
    if (collided)
        dh_atom_report_collision(&a, collided);
    if (dh_noise_on)
        dh_noise_at_access(mark, place, dh_atom_held);
    leave();
}

void __dh_atom_after_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place)
{
    (void)dst, (void)size, (void)what, (void)spot;
    if (!dh_atom_current || !dh_atom_current->open || !enter())
        return;
    struct dh_atom_thread_state *s = dh_atom_current;
    if (s->place == place) {
        uint64_t collided = 0;
        s->open = false;
        for (uint32_t i = 0; i < s->n_pieces; i++) {
            const struct dh_atom_piece *p = &s->piece[i];
            bool write = p->mine & DH_ATOM_ACTIVE;
            uint64_t word = write ? dh_atom_after_write(p, &s->atom) : dh_atom_after_read(p, &s->atom);
            if (word && write)
                collided = word;
            if (word && !write) {
                struct dh_atom_access r = s->access;
                r.addr = (uintptr_t)src;
                r.write = false;
                dh_atom_report_collision(&r, word);
            }
        }
        s->n_pieces = 0;
        if (collided)
            dh_atom_report_collision(&s->access, collided);
    }
    leave();
}

/* ---- synchronisation and threads ---- */

void dh_atom_synchronised(enum dh_atom_sync how)
{
    if (busy || ended)
        return;
    dh_atom_n_lock_operations += how != DH_ATOM_SYNC_OTHER;
    if (how == DH_ATOM_SYNC_ACQUIRE)
        dh_atom_held++;
    else if (how == DH_ATOM_SYNC_RELEASE)
        dh_atom_held -= dh_atom_held > 0;
    else
        __dh_thread.atom_syncs++;
    if (dh_atom_current && dh_atom_current->open) {
        busy = true;
        dh_atom_close_window(dh_atom_current);
        busy = false;
    }
    if (dh_atom_current && dh_atom_modes.pairs && ++dh_atom_current->n_syncs % BETWEEN_BURSTS == 0) {
        dh_atom_current->burst = BURST;
        __dh_thread.atom_fast = 0;
    }
    if (dh_noise_on && how != DH_ATOM_SYNC_ACQUIRE)
        dh_noise_at_sync();
}

void dh_atom_thread_ends(void)
{
    struct dh_atom_thread_state *s = dh_atom_current;
    ended = true;
    dh_noise_thread_ends();
    if (!s)
        return;
    dh_atom_close_window(s);
    if (dh_atom_modes.sections)
        dh_atom_sections_abandon(s);
    dh_atom_current = NULL;
    dh_atom_thread_recycle(s);
}

void dh_atom_at_exit(void)
{
    if (dh_atom_enabled && dh_options.verbosity >= 1)
        dh_print("deadheat: process %d: atomrace: %u collisions, %u broken sections; noise: %u delays\n",
                 dh_process.pid, atomic_load(&dh_atom_n_collisions), atomic_load(&dh_atom_n_violations),
                 dh_noise_count());
}

/* The other threads' accesses do not go on in the child. */
void dh_atom_forked(void)
{
    if (!dh_atom_enabled)
        return;
    dh_bytes_zero(&dh_atom_writes, sizeof dh_atom_writes);
    dh_atom_pairs_forked();
    dh_atom_sections_forked();
    dh_atom_threads_forked();
    if (dh_atom_current)
        dh_atom_current->open = false;
}

/* ---- start ---- */

void dh_atom_start(void)
{
    dh_atom_modes.on = dh_options_detects("atomrace");
    dh_noise_start();
    dh_atom_enabled = dh_atom_modes.on || dh_noise_on;
    if (!dh_atom_enabled)
        return;
    if (dh_atom_modes.on && dh_options.selection)
        dh_atom_sections_start();
    dh_atom_modes.train = dh_options.train;
    dh_atom_modes.reports_pairs = dh_atom_modes.on && dh_options.pairs;
    dh_atom_modes.pairs = dh_atom_modes.reports_pairs || dh_noise_by_conflict;
    dh_atom_modes.collides = dh_atom_modes.on || dh_atom_modes.pairs;
}
