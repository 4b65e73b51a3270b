/* Queues, pools of threads, loops and counts of references of GLib: they synchronise inside the library, where nothing
 * is seen, so the calls are what orders. */
#include "runtime/interpose/glib/glib_meets.h"

#include "runtime/core/instrumented_modules.h"
#include "runtime/platform/spin.h"

void dh_glib_meet(const void *object, bool is_step)
{
    if (!dh_engine_on)
        dh_sync_acquire_release(object, DH_SYNC_OTHER);
    else if (is_step)
        dh_engine_meets(object);
    else
        dh_engine_leaves(object);
}

static void dh_glib_leave(const void *object)
{
    if (dh_engine_on)
        dh_engine_leaves(object);
    else
        dh_sync_release_join(object, DH_SYNC_OTHER);
}

void dh_glib_met(const void *object)
{
    if (dh_engine_on)
        dh_engine_met(object);
    else
        dh_sync_acquire(object, DH_SYNC_OTHER);
}

/* ---- loops ---- */

/* Whose loop the thread runs. */
static __thread const void *running;

static const void *dh_glib_context(uintptr_t context)
{
    return context ? (const void *)context : dh_real_glib.g_main_context_default();
}

static const void *dh_glib_context_of_loop(uintptr_t loop)
{
    return dh_real_glib.g_main_loop_get_context((void *)loop);
}

void dh_glib_polled(void)
{
    if (__builtin_expect(running != NULL, 0))
        dh_glib_met(running);
}

static const void *begin_loop(const void *context)
{
    const void *outer = running;
    if (dh_engine_on)
        dh_engine_library_meets();
    running = context;
    dh_glib_met(context);
    return outer;
}

static void dh_interposed_g_main_loop_run(void *loop)
{
    dh_glib_ready();
    const void *outer = begin_loop(dh_glib_context_of_loop((uintptr_t)loop));
    dh_real_glib.g_main_loop_run(loop);
    running = outer;
}
DH_INTERPOSE(g_main_loop_run);

static int dh_interposed_g_main_context_iteration(void *context, int may_block)
{
    dh_glib_ready();
    const void *outer = begin_loop(dh_glib_context((uintptr_t)context));
    int any = dh_real_glib.g_main_context_iteration(context, may_block);
    running = outer;
    return any;
}
DH_INTERPOSE(g_main_context_iteration);

/* ---- what only has to be called through ---- */

#define WORDS a, b, c, d, e, f
#define CALLS(name, met_at, call)                                                                                      \
    static uintptr_t dh_interposed_##name(DH_GLIB_WORDS)                                                               \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        const void *object = (const void *)(met_at);                                                                   \
        dh_glib_meet(object, dh_module_is_instrumented(*DH_CALL_SLOT));                                                \
        uintptr_t answer = call;                                                                                       \
        dh_glib_met(object);                                                                                           \
        return answer;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define DH_GLIB_MEETS(name, object) CALLS(name, object, dh_real_glib.name(WORDS))
#define DH_GLIB_AWAITS(name, object) CALLS(name, object, DH_WAIT(dh_real_glib.name(WORDS)))
#include "runtime/interpose/glib/glib_meets.def"
#undef DH_GLIB_MEETS
#undef DH_GLIB_AWAITS

/* ---- the lock of a queue ---- */

static void dh_interposed_g_async_queue_lock(void *queue)
{
    struct dh_wait w;
    dh_glib_ready();
    if (dh_engine_on)
        dh_engine_meets(queue);
    dh_wait_begin(&w, NULL, NULL);
    dh_real_glib.g_async_queue_lock(queue);
    dh_wait_end(&w);
    dh_glib_met(queue);
}
DH_INTERPOSE(g_async_queue_lock);

static void dh_interposed_g_async_queue_unlock(void *queue)
{
    dh_glib_ready();
    dh_glib_meet(queue, true);
    dh_real_glib.g_async_queue_unlock(queue);
}
DH_INTERPOSE(g_async_queue_unlock);

/* ---- pools: their threads call the program's function from inside the library ---- */

/* GLib gives the function nothing that names the pool, so that one of ours stands before each function that is used
 * with the same argument: a row. A pool keeps both where all may read them. */
enum { ROWS = 8, WORKS = 64 };
struct pool {
    dh_glib_work work;
    void *user;
};
static struct pool works[ROWS][WORKS];
static dh_spin adding = DH_SPIN_INIT(DH_RANK_GLIB_POOLS);

static struct pool *find_work(unsigned row, const void *user)
{
    for (struct pool *p = works[row]; p < works[row] + WORKS; p++) {
        dh_glib_work work = __atomic_load_n(&p->work, __ATOMIC_ACQUIRE);
        if (!work || p->user == user)
            return p;
    }
    return NULL;
}

static void call_work(unsigned row, void *data, void *user)
{
    const struct pool *p = find_work(row, user);
    if (dh_engine_on)
        dh_engine_library_meets();
    dh_glib_met(&p->work);
    p->work(data, user);
    dh_glib_leave(&p->user);
}

#define ROW(n)                                                                                                         \
    static void work_##n(void *data, void *user)                                                                       \
    {                                                                                                                  \
        call_work(n, data, user);                                                                                      \
    }
ROW(0)

ROW(1)

ROW(2)
ROW(3)
ROW(4)
ROW(5)
ROW(6)

ROW(7)
static const dh_glib_work before[ROWS] = {work_0, work_1, work_2, work_3, work_4, work_5, work_6, work_7};

/* With more functions than there are rows: the function itself. */
static dh_glib_work stand_before(dh_glib_work work, void *user)
{
    dh_glib_work chosen = work;
    dh_spin_lock(&adding);
    for (unsigned row = 0; row < ROWS && chosen == work; row++) {
        struct pool *p = find_work(row, user);
        if (!p || (p->work && p->work != work))
            continue;
        p->user = user;
        __atomic_store_n(&p->work, work, __ATOMIC_RELEASE);
        chosen = before[row];
    }
    dh_spin_unlock(&adding);
    return chosen;
}

/* That of the pool whose first fields these are. Tasks come after what was pushed (`work`), and the end of the pool
 * after the tasks (`user`), but no task after another. */
static const struct pool *meeting_of(const struct pool *pool)
{
    for (unsigned row = 0; row < ROWS; row++)
        if (pool->work == before[row])
            return find_work(row, pool->user);
    return pool;
}

static void *dh_interposed_g_thread_pool_new(dh_glib_work work, void *user, int threads, int exclusive, void *error)
{
    dh_glib_ready();
    return dh_real_glib.g_thread_pool_new(work ? stand_before(work, user) : work, user, threads, exclusive, error);
}
DH_INTERPOSE(g_thread_pool_new);

static void *dh_interposed_g_thread_pool_new_full(dh_glib_work work, void *user, void *discard, int threads,
                                                  int exclusive, void *error)
{
    dh_glib_ready();
    return dh_real_glib.g_thread_pool_new_full(work ? stand_before(work, user) : work, user, discard, threads,
                                               exclusive, error);
}
DH_INTERPOSE(g_thread_pool_new_full);

static int dh_interposed_g_thread_pool_push(void *pool, void *data, void *error)
{
    dh_glib_ready();
    dh_glib_meet(&meeting_of(pool)->work, true);
    return dh_real_glib.g_thread_pool_push(pool, data, error);
}
DH_INTERPOSE(g_thread_pool_push);

static void dh_interposed_g_thread_pool_free(void *pool, int immediate, int wait)
{
    dh_glib_ready();
    const struct pool *met = meeting_of(pool);
    dh_glib_meet(&met->work, true);
    DH_WAIT((dh_real_glib.g_thread_pool_free(pool, immediate, wait), 0));
    if (wait)
        dh_glib_met(&met->user);
}
DH_INTERPOSE(g_thread_pool_free);
