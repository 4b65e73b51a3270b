#include "runtime/report/report.h"

#include "base/hash.h"
#include "runtime/core/context.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/modules.h"
#include "runtime/report/outputs.h"
#include "runtime/report/suppressions.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define KNOWN_BITS 14
#define KNOWN (1u << KNOWN_BITS)
#define PATIENCE_MS 20000
#define FRAMES_MOST 8192
#define FRAMES_OF_ONE 256u
#define FRAMES_SEEN 16384u
#define THREADS_MOST 24
#define STACK (128 << 10)
#define BYTES (512 << 10)

_Static_assert(DH_REPORT_ACCESSES == DH_LOG_ACCESSES, "");
_Static_assert((int)DH_THREAD_FINISHED == (int)DH_LOG_FINISHED && (int)DH_THREAD_FOREIGN == (int)DH_LOG_FOREIGN, "");

/* Findings by hash; lock-free, since a race in a loop comes here in every iteration. */
static struct {
    _Atomic uint64_t key; /* 0 = free */
    _Atomic int pid;      /* the process that reported it last */
    _Atomic bool quiet;   /* suppressed: not counted */
} known[KNOWN];

static struct {
    _Atomic int pid; /* whose count it is: a forked child begins at 0 */
    _Atomic uint32_t count, left_out;
} found;

/* Process and thread that report now; one of another process was copied by fork. Not the kernel's thread id: a sandbox
 * may forbid asking for it. */
static _Atomic uint64_t owner;

/* The finding being reported; too large for threads' stacks. */
static struct {
    struct dh_log_finding finding;
    struct dh_log_address frames[FRAMES_MOST];
    uint32_t n_frames;
    struct dh_log_lock locks[DH_REPORT_ACCESSES][DH_REPORT_LOCKS];
    struct dh_log_thread threads[THREADS_MOST];
    uint8_t bytes[BYTES];
    uint8_t stack[STACK] __attribute__((aligned(16)));
} work;

/* ---- equal findings ---- */

/* The place, or else the innermost frame. */
static uint64_t place_key(const struct dh_report_access *a)
{
    uintptr_t frame = 0;
    uint64_t h = dh_hash_combine(a->flags & (DH_LOG_WRITE | DH_LOG_ATOMIC | DH_LOG_FREE | DH_LOG_ALLOC), a->module);
    if (a->place == UINT32_MAX)
        dh_context_frames(a->context, &frame, 1);
    return dh_hash_combine(dh_hash_combine(h ^ (uint64_t)a->role << 32, a->place), frame);
}

/* What distinguishes findings at the same places. A text may contain numbers, but of annotations it is the promise that
 * was broken. */
static const char *key_text(const struct dh_report *r)
{
    bool by_text =
        r->kind == DH_FINDING_ANNOTATION || r->kind == DH_FINDING_LOCK_MISUSE || r->kind == DH_FINDING_USE_AFTER_FREE;
    return r->key ? r->key : by_text ? r->text : NULL;
}

static uint64_t key_of(const struct dh_report *r)
{
    uint64_t sum = dh_hash_combine(r->kind | (unsigned)r->suspected << 8, r->n_accesses);
    for (unsigned i = 0; i < r->n_accesses; i++)
        sum += place_key(&r->access[i]); /* in either order */
    for (const char *t = key_text(r); t && *t; t++)
        sum = dh_hash_combine(sum, (unsigned char)*t);
    return sum ? sum : 1;
}

static bool claim(uint64_t key, uint32_t at, int pid, bool *fresh)
{
    uint64_t there = atomic_load_explicit(&known[at].key, memory_order_acquire);
    *fresh = !there && atomic_compare_exchange_strong(&known[at].key, &there, key);
    if (!*fresh && there != key)
        return false;
    if (atomic_load_explicit(&known[at].pid, memory_order_relaxed) != pid &&
        atomic_exchange_explicit(&known[at].pid, pid, memory_order_relaxed) != pid && !atomic_load(&known[at].quiet))
        atomic_fetch_add(&found.count, 1);
    return true;
}

static uint32_t slot_of(uint64_t key, uint32_t i)
{
    return (uint32_t)((key >> (64 - KNOWN_BITS)) + i) & (KNOWN - 1);
}

bool dh_report_is_known(const struct dh_report *r)
{
    uint64_t key = key_of(r);
    for (uint32_t i = 0; i < KNOWN; i++) {
        uint32_t at = slot_of(key, i);
        uint64_t there = atomic_load_explicit(&known[at].key, memory_order_acquire);
        if (!there || there == key)
            return there && atomic_load_explicit(&known[at].pid, memory_order_relaxed) == dh_process.pid;
    }
    return false;
}

/* Counts it for this process; true: new. One that the parent reported before fork counts, but is not reported again. */
static bool count_finding(uint64_t key, int pid, uint32_t *at)
{
    bool fresh;
    if (atomic_load(&found.pid) != pid && atomic_exchange(&found.pid, pid) != pid)
        atomic_store(&found.count, 0);
    for (uint32_t i = 0; i < KNOWN; i++)
        if (claim(key, *at = slot_of(key, i), pid, &fresh))
            return fresh;
    atomic_fetch_add(&found.left_out, 1);
    return false;
}

#define FREQUENCY_BITS 12
#define RACES_PER_ADDRESS 32u
#define RACES_PER_PAIR 256u
#define ALLOWANCE 256                /* searches for races of frequent pairs that may be new */
#define ALLOWANCE_MORE 16            /* for each new finding */
#define SKIPPED_PER_ALLOWANCE 16384u /* skipping that many costs more than one search */

/* Tag and count in one word; a key that replaces another's begins at 0, so that none is mistaken for another. */
struct frequency {
    _Atomic uint64_t slots[1u << FREQUENCY_BITS];
};
static struct frequency seen_addresses, seen_pairs, seen_stretches;
static _Atomic int allowance = ALLOWANCE;
static _Atomic uint32_t skipped;

static uint32_t times_seen(struct frequency *w, uint64_t key, uint32_t patience)
{
    uint64_t h = dh_hash_combine(patience, key), tag = h << 32;
    _Atomic uint64_t *slot = &w->slots[h >> (64 - FREQUENCY_BITS)];
    uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t n = there >> 32 == tag >> 32 ? (uint32_t)there : 0;
    atomic_store_explicit(slot, tag | (n + 1 ? n + 1 : patience), memory_order_relaxed);
    return n;
}

static bool is_worth_one(struct frequency *w, uint64_t key, uint32_t patience)
{
    uint32_t n = times_seen(w, key, patience);
    return n < patience || !(n & (n - 1));
}

/* Another stretch of memory, or another time, may have another place. */
static bool is_allowed(uint64_t stretch)
{
    if (times_seen(&seen_stretches, stretch, 1) == 0 && atomic_load_explicit(&allowance, memory_order_relaxed) > 0) {
        atomic_fetch_sub_explicit(&allowance, 1, memory_order_relaxed);
        return true;
    }
    if (atomic_fetch_add_explicit(&skipped, 1, memory_order_relaxed) % SKIPPED_PER_ALLOWANCE ==
        SKIPPED_PER_ALLOWANCE - 1)
        atomic_fetch_add_explicit(&allowance, 1, memory_order_relaxed);
    return false;
}

bool dh_report_is_worth_explaining(uint64_t pair, uint64_t pair_and_address, uint64_t stretch)
{
    return (is_worth_one(&seen_addresses, pair_and_address, RACES_PER_ADDRESS) &&
            is_worth_one(&seen_pairs, pair, RACES_PER_PAIR)) ||
           is_allowed(stretch);
}

static void reset_frequencies(void)
{
    dh_bytes_zero(&seen_addresses, sizeof seen_addresses);
    dh_bytes_zero(&seen_pairs, sizeof seen_pairs);
    dh_bytes_zero(&seen_stretches, sizeof seen_stretches);
    atomic_fetch_add_explicit(&allowance, ALLOWANCE_MORE, memory_order_relaxed);
}

uint32_t dh_report_count(void)
{
    return atomic_load(&found.pid) == dh_process.pid ? atomic_load(&found.count) : 0;
}

/* ---- one at a time ---- */

#define THREAD_BITS 42 /* of an address, in units of the cache line that every thread's state fills at least */
_Static_assert(sizeof(struct dh_thread_state) >= 64, "");

static uint64_t myself(void)
{
    uint64_t thread = (uintptr_t)&__dh_thread >> 6 & (((uint64_t)1 << THREAD_BITS) - 1);
    return (uint64_t)dh_process.pid << THREAD_BITS | thread;
}

static void pause_a_moment(void)
{
    struct timespec step = {.tv_nsec = 1000000};
    if (!dh_report_is_sandboxed())
        dh_syscall3(SYS_nanosleep, (long)&step, 0, 0);
    else
        for (int i = 0; i < 100000; i++)
            __builtin_ia32_pause();
}

static bool lock_reports(void)
{
    uint64_t me = myself(), there = 0;
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        if (there == me)
            return false;
        bool free = !there || there >> THREAD_BITS != me >> THREAD_BITS;
        if (free && atomic_compare_exchange_strong(&owner, &there, me))
            return true;
        pause_a_moment();
        there = atomic_load(&owner);
    }
    return false;
}

static void unlock_reports(void)
{
    atomic_store(&owner, 0);
}

/* Number of threads that report, and the process in the upper half: threads of the parent do not exist in a child. */
static _Atomic uint64_t reporting;

static uint64_t reporting_here(uint64_t n)
{
    uint64_t process = (uint64_t)(uint32_t)dh_process.pid << 32;
    return (n & ~(uint64_t)UINT32_MAX) == process ? n : process;
}

static void begin_reporting(void)
{
    uint64_t n = atomic_load(&reporting);
    while (!atomic_compare_exchange_weak(&reporting, &n, reporting_here(n) + 1))
        ;
}

static void end_reporting(void)
{
    uint64_t n = atomic_load(&reporting);
    while ((uint32_t)reporting_here(n) && !atomic_compare_exchange_weak(&reporting, &n, reporting_here(n) - 1))
        ;
}

static void wait_for_reports(void)
{
    for (int ms = 0; ms < PATIENCE_MS && (uint32_t)reporting_here(atomic_load(&reporting)); ms++)
        pause_a_moment();
}

/* Calls fn(arg) on the report's stack: that of a thread may be tiny. */
static void call_on(uint8_t *stack_end, void (*fn)(const struct dh_report *), const struct dh_report *arg)
{
    __asm__ volatile("mov %%rsp, %%rbx\n\t"
                     "mov %[stack], %%rsp\n\t"
                     "call *%[fn]\n\t"
                     "mov %%rbx, %%rsp"
                     : "+D"(arg), [fn] "+r"(fn), [stack] "+r"(stack_end)
                     :
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

/* All signals are blocked while a report is written. Signals that its writes raise are consumed, unless they were
 * pending before. */
struct quiet {
    uint64_t mask, pending;
};

static void block_signals(struct quiet *q)
{
    uint64_t all = ~(uint64_t)0;
    q->pending = 0;
    if (dh_report_is_sandboxed())
        return;
    dh_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&q->mask, sizeof all, 0, 0);
    dh_syscall3(SYS_rt_sigpending, (long)&q->pending, sizeof q->pending, 0);
}

static void unblock_signals(const struct quiet *q)
{
    uint64_t raised = ((uint64_t)1 << (SIGPIPE - 1) | (uint64_t)1 << (SIGXFSZ - 1)) & ~q->pending;
    struct timespec at_once = {0};
    if (dh_report_is_sandboxed())
        return;
    while (dh_syscall6(SYS_rt_sigtimedwait, (long)&raised, 0, (long)&at_once, sizeof raised, 0, 0) > 0)
        ;
    dh_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&q->mask, 0, sizeof q->mask, 0, 0);
}

/* ---- from the process to the log's terms ---- */

static void add_frames(struct dh_log_stack *s, const uintptr_t *raw, uint32_t n)
{
    for (uint32_t i = 0; i < n && work.n_frames < FRAMES_MOST; i++) {
        work.frames[work.n_frames++] = dh_report_address(raw[i]);
        s->n_frames++;
    }
}

/* Of a deep recursion the middle is left out. */
static struct dh_log_stack stack_of(uint32_t context)
{
    static uintptr_t raw[FRAMES_SEEN];
    struct dh_log_stack s = {.frames = &work.frames[work.n_frames]};
    size_t all = dh_context_frames(context, raw, FRAMES_SEEN);
    uint32_t n = (uint32_t)(all < FRAMES_SEEN ? all : FRAMES_SEEN);
    if (n <= FRAMES_OF_ONE) {
        add_frames(&s, raw, n);
    } else {
        add_frames(&s, raw, FRAMES_OF_ONE - DH_LOG_OUTER);
        add_frames(&s, raw + n - DH_LOG_OUTER, DH_LOG_OUTER);
    }
    s.n_cut = (uint32_t)all - s.n_frames;
    return s;
}

static void add_thread(uint32_t index)
{
    struct dh_log_finding *f = &work.finding;
    for (uint32_t i = 0; i < f->n_threads; i++)
        if (work.threads[i].index == index)
            return;
    const struct dh_thread *t = dh_threads_find(index);
    if (!t || f->n_threads == THREADS_MOST)
        return;
    work.threads[f->n_threads++] = (struct dh_log_thread){
        .index = index,
        .parent = t->parent,
        .flags = atomic_load(&t->flags),
        .name = t->name,
        .created = stack_of(t->context),
    };
    if (t->parent != DH_THREAD_NONE)
        add_thread(t->parent);
}

static struct dh_log_lock lock_of(const struct dh_report_lock *from)
{
    return (struct dh_log_lock){
        .address = from->address,
        .where = dh_report_address(from->address),
        .shared = from->shared,
        .place = DH_LOG_NONE,
        .module = DH_LOG_NONE,
        .taken = stack_of(from->context),
    };
}

static void fill_access(unsigned i, const struct dh_report_access *from)
{
    struct dh_log_access *a = &work.finding.access[i];
    bool placed = from->place != UINT32_MAX;
    *a = (struct dh_log_access){
        .thread = from->thread,
        .flags = from->flags,
        .role = from->role,
        .place = from->place,
        .module = placed ? dh_report_module_of(from->module ? from->module : (uintptr_t)&dh_process) : DH_LOG_NONE,
        .size = from->size,
        .address = from->addr,
        .value = from->value,
        .where = from->role && from->role != DH_ROLE_JOIN ? dh_report_address(from->addr)
                                                          : (struct dh_log_address){from->addr, DH_LOG_NONE},
        .note = from->note,
        .stack = stack_of(from->context),
        .locks = work.locks[i],
    };
    for (; a->n_locks < from->n_locks && a->n_locks < DH_REPORT_LOCKS; a->n_locks++)
        work.locks[i][a->n_locks] = lock_of(&from->lock[a->n_locks]);
}

static void fill_region(const struct dh_report *r)
{
    static const enum dh_log_region regions[] = {
        [DH_REGION_OTHER] = DH_LOG_REGION_OTHER,
        [DH_REGION_STACK] = DH_LOG_REGION_STACK,
        [DH_REGION_TLS] = DH_LOG_REGION_TLS,
    };
    struct dh_log_finding *f = &work.finding;
    f->region_thread = DH_LOG_NONE;
    f->where = (struct dh_log_address){.module = DH_LOG_NONE, .offset = r->addr};
    if (r->n_block) {
        f->region = DH_LOG_REGION_HEAP;
        f->region_thread = r->block_thread;
        f->block = r->block;
        f->n_block = r->n_block;
        f->allocated = stack_of(r->block_context);
        return;
    }
    if (r->dead) {
        f->region = regions[r->dead];
        f->region_thread = r->dead_thread;
        return;
    }
    f->region = regions[dh_region_of(r->addr, &f->region_thread)];
    if (f->region == DH_LOG_REGION_OTHER)
        f->where = dh_report_address(r->addr);
    if (f->where.module != DH_LOG_NONE)
        f->region = DH_LOG_REGION_GLOBAL;
}

static void fill(const struct dh_report *r)
{
    struct dh_log_finding *f = &work.finding;
    *f = (struct dh_log_finding){
        .kind = r->kind,
        .level = r->suspected ? DH_LEVEL_SUSPECTED : DH_LEVEL_OBSERVED,
        .time = dh_report_now(),
        .detector = r->detector,
        .text = r->text,
        .key = r->key,
        .address = r->addr,
        .size = r->size,
        .n_held = r->n_held < DH_LOG_HELD ? r->n_held : DH_LOG_HELD,
        .threads = work.threads,
    };
    work.n_frames = 0;
    dh_report_modules_begin();
    dh_bytes_copy(f->held, r->held, f->n_held);
    for (; f->n_accesses < r->n_accesses && f->n_accesses < DH_REPORT_ACCESSES; f->n_accesses++)
        fill_access(f->n_accesses, &r->access[f->n_accesses]);
    fill_region(r);
    for (uint32_t i = 0; i < f->n_accesses; i++) {
        add_thread(f->access[i].thread);
        if (f->access[i].role == DH_ROLE_JOIN)
            add_thread((uint32_t)f->access[i].address);
    }
    if (f->region_thread != DH_LOG_NONE)
        add_thread(f->region_thread);
    f->modules = dh_report_modules_end(&f->n_modules);
}

static struct dh_report_bytes serialise(void)
{
    struct dh_log_out out = {work.bytes, 0, sizeof work.bytes, false};
    dh_report_log_begin(&out, work.finding.time);
    size_t finding = out.n;
    dh_log_put_finding(&out, &work.finding);
    return (struct dh_report_bytes){work.bytes, out.full ? 0 : out.n, finding};
}

static bool suppressed, printed_before; /* the finding under way */

/* The tool decides whether it is suppressed, and thereby whether it is logged. */
static void output_unless_suppressed(const struct dh_report_bytes *b)
{
    unsigned by;
    enum dh_report_answer answer = b->n ? dh_report_run_tool(b) : DH_REPORT_FAILED;
    suppressed = answer == DH_REPORT_SUPPRESSED;
    printed_before = answer == DH_REPORT_PRINTED_BEFORE;
    if (answer == DH_REPORT_FAILED && dh_suppressions_match(&work.finding, &by)) {
        dh_suppressions_count(by);
        suppressed = true;
    }
    if (suppressed)
        return;
    if (b->n)
        dh_report_log(b);
    if (dh_options.print && answer == DH_REPORT_FAILED)
        dh_report_print_plain(&work.finding);
}

/* On the report's stack. */
static void output_finding(const struct dh_report *r)
{
    fill(r);
    struct dh_report_bytes b = serialise();
    suppressed = printed_before = false;
    if (dh_suppressions_path() && !r->log_only) {
        output_unless_suppressed(&b);
        return;
    }
    if (b.n)
        dh_report_log(&b);
    if (!dh_options.print || r->log_only)
        return;
    enum dh_report_answer answer = b.n ? dh_report_run_tool(&b) : DH_REPORT_FAILED;
    printed_before = answer == DH_REPORT_PRINTED_BEFORE;
    if (answer == DH_REPORT_FAILED)
        dh_report_print_plain(&work.finding);
}

static bool over_limit(void)
{
    if (!dh_options.report_limit || atomic_load(&found.count) <= (uint32_t)dh_options.report_limit)
        return false;
    atomic_fetch_add(&found.left_out, 1);
    return true;
}

void dh_report(const struct dh_report *r)
{
    uint32_t at = 0;
    bool quiet = false;
    if (!count_finding(key_of(r), dh_process.pid, &at) || over_limit())
        return;
    struct quiet q;
    reset_frequencies();
    block_signals(&q); /* or a handler of this thread could end the process and wait for itself */
    begin_reporting();
    if (lock_reports()) {
        call_on(work.stack + sizeof work.stack, output_finding, r);
        quiet = suppressed || printed_before || r->log_only;
        if (suppressed || r->log_only)
            atomic_store(&known[at].quiet, true);
        if (quiet)
            atomic_fetch_sub(&found.count, 1);
        unlock_reports();
    }
    end_reporting();
    if (dh_options.halt_on_error && !quiet) {
        dh_finish();
        dh_sys_exit_group(dh_options.exitcode);
    }
    unblock_signals(&q);
}

void dh_report_note(const char *text)
{
    struct quiet q;
    struct dh_log_out out = {work.bytes, 0, sizeof work.bytes, false};
    dh_report_log_begin(&out, dh_report_now());
    struct dh_report_bytes b = {.at = work.bytes, .finding = out.n};
    dh_log_put_note(&out, text);
    b.n = out.n;
    block_signals(&q);
    if (!dh_report_log_note(&b))
        dh_print("deadheat: %s\n", text);
    unblock_signals(&q);
}

void dh_report_at_exit(void)
{
    struct quiet q;
    uint32_t n = dh_report_count();
    if (!n)
        return;
    block_signals(&q);
    wait_for_reports();
    n = dh_report_count();
    void (*say)(const char *, ...) = dh_report_is_sandboxed() ? dh_print_stderr : dh_print;
    if (dh_options.print)
        say("deadheat: %u finding%s\n", n, n == 1 ? "" : "s");
    uint32_t left_out = atomic_load(&found.left_out);
    if (left_out)
        say("deadheat: %u findings were not reported (report_limit=%d)\n", left_out, dh_options.report_limit);
    unblock_signals(&q);
}
