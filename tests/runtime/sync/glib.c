/* Locks and meeting places of GLib, which are futexes of its own. Broken: the reader uses another object.
 * Packages: glib-2.0 */
#include "pair.h"

#include <glib.h>

static GMutex mutex[2];
static GRecMutex recursive[2];
static GRWLock rwlock[2];
static GCond cond;
static GOnce once[2] = {G_ONCE_INIT, G_ONCE_INIT};
static gsize initialised[2];
static gint bits[2];
static gpointer pointers[2];
static GAsyncQueue *queue[2];
static GMainContext *context;
static GThreadPool *pool;
static int ready;

/* ---- locks ---- */

#define LOCKED(name, lock, unlock)                                                                                     \
    static void in_##name(int o)                                                                                       \
    {                                                                                                                  \
        lock(&name[o]);                                                                                                \
        guarded++;                                                                                                     \
        unlock(&name[o]);                                                                                              \
    }
LOCKED(mutex, g_mutex_lock, g_mutex_unlock)
LOCKED(recursive, g_rec_mutex_lock, g_rec_mutex_unlock)
LOCKED(rwlock, g_rw_lock_writer_lock, g_rw_lock_writer_unlock)

static void in_trylock(int o)
{
    CHECK(g_mutex_trylock(&mutex[o]));
    guarded++;
    g_mutex_unlock(&mutex[o]);
}
static void in_reader(int o)
{
    g_rw_lock_reader_lock(&rwlock[o]);
    guarded++;
    g_rw_lock_reader_unlock(&rwlock[o]);
}
static void in_bit(int o)
{
    g_bit_lock(&bits[o], 3);
    guarded++;
    g_bit_unlock(&bits[o], 3);
}
static void in_pointer_bit(int o)
{
    g_pointer_bit_lock(&pointers[o], 0);
    guarded++;
    g_pointer_bit_unlock(&pointers[o], 0);
}

/* The writer holds the lock while the reader comes for it. */
static void held_long(int o)
{
    g_mutex_lock(&mutex[o]);
    invisible_say(STEP);
    for (int i = 0; i < 30000000 && !invisible_said(STEP2); i++)
        ;
    guarded++;
    g_mutex_unlock(&mutex[o]);
}
static void comes_for_it(int o)
{
    invisible_await(STEP);
    invisible_say(STEP2);
    in_mutex(o);
}

/* ---- a condition ---- */

static void signals(int o)
{
    guarded++;
    g_mutex_lock(&mutex[o]);
    ready = 1;
    g_cond_signal(&cond);
    g_mutex_unlock(&mutex[o]);
}
static void waits(int o)
{
    if (!o) {
        g_mutex_lock(&mutex[0]);
        while (!ready)
            g_cond_wait(&cond, &mutex[0]);
        g_mutex_unlock(&mutex[0]);
    }
    guarded++;
}
static void waits_until(int o)
{
    if (!o) {
        g_mutex_lock(&mutex[0]);
        while (!ready)
            g_cond_wait_until(&cond, &mutex[0], g_get_monotonic_time() + G_TIME_SPAN_MINUTE);
        g_mutex_unlock(&mutex[0]);
    }
    guarded++;
}

/* ---- once ---- */

static gpointer first_time(gpointer unused)
{
    if (!invisible_said(STEP)) {
        invisible_say(STEP);
        guarded++;
    }
    return unused;
}
static void in_once(int o)
{
    g_once(&once[o], first_time, NULL);
}
static void after_once(int o)
{
    in_once(o);
    guarded++;
}
static void in_once_init(int o)
{
    if (g_once_init_enter(&initialised[o])) {
        first_time(NULL);
        g_once_init_leave(&initialised[o], 1);
    }
}
static void after_once_init(int o)
{
    in_once_init(o);
    guarded++;
}

/* ---- queues, pools, loops ---- */

static void make_queues(void)
{
    for (int o = 0; o < 2; o++) {
        queue[o] = g_async_queue_new();
        g_async_queue_push(queue[1], &ready);
    }
}
static void pushes(int o)
{
    guarded++;
    g_async_queue_push(queue[o], &ready);
}
static void pops(int o)
{
    CHECK(g_async_queue_pop(queue[o]) == &ready);
    guarded++;
}
static void tries_pop(int o)
{
    CHECK(g_async_queue_try_pop(queue[o]) == &ready);
    guarded++;
}
static void in_queue_lock(int o)
{
    g_async_queue_lock(queue[o]);
    guarded++;
    g_async_queue_unlock(queue[o]);
}

static void work(gpointer data, gpointer user)
{
    (void)user;
    if (data != &ready)
        guarded++;
    invisible_say(STEP);
}
static void make_pool(void)
{
    pool = g_thread_pool_new(work, &pool, 1, FALSE, NULL);
}
/* Broken: what the writer does behind its push, the function of the pool does not come after. */
static void pushes_work(int o)
{
    (void)o;
    if (!broken)
        guarded++;
    g_thread_pool_push(pool, &pool, NULL);
    if (broken)
        guarded++;
}
static void frees_pool(int o)
{
    (void)o;
    invisible_await(STEP);
    g_thread_pool_free(pool, FALSE, !broken);
}

static gboolean called(gpointer done)
{
    guarded++;
    *(int *)done = 1;
    return G_SOURCE_REMOVE;
}
static void make_context(void)
{
    context = g_main_context_new();
}
static void attaches(int o)
{
    static int done;
    (void)o;
    GSource *s = g_idle_source_new();
    if (!broken)
        guarded++;
    g_source_set_callback(s, called, &done, NULL);
    g_source_attach(s, context);
    if (broken)
        guarded++;
    g_source_unref(s);
    invisible_say(STEP);
}
static void loops(int o)
{
    (void)o;
    invisible_await(STEP);
    while (g_main_context_iteration(context, FALSE))
        ;
}

/* ---- threads, references ---- */

static gpointer begins(gpointer unused)
{
    guarded++;
    return unused;
}
static void starts(int o)
{
    (void)o;
    GThread *t = g_thread_new("begins", begins, NULL);
    if (!broken)
        g_thread_join(t);
    guarded++;
    if (broken)
        g_thread_join(t);
}
static void nothing(int o)
{
    (void)o;
}

static gint *counted;
static void make_counted(void)
{
    counted = g_atomic_rc_box_new0(gint);
    g_atomic_rc_box_acquire(counted);
}
static void release_last(gpointer data)
{
    (void)data;
    guarded++;
}
static void lets_go(int o)
{
    if (!o)
        guarded++;
    g_atomic_rc_box_release_full(counted, release_last);
    if (o)
        guarded++;
}
static void lets_go_early(int o)
{
    (void)o;
    lets_go(broken);
}
static void lets_go_last(int o)
{
    (void)o;
    g_atomic_rc_box_release_full(counted, release_last);
}

static const struct pair pairs[] = {
    {"g_mutex_lock", NULL, in_mutex, in_mutex, 0},
    {"waiting", NULL, held_long, comes_for_it, TOGETHER},
    {"g_mutex_trylock", NULL, in_mutex, in_trylock, 0},
    {"g_rec_mutex_lock", NULL, in_recursive, in_recursive, 0},
    {"g_rw_lock_writer_lock", NULL, in_rwlock, in_rwlock, 0},
    {"g_rw_lock_reader_lock", NULL, in_rwlock, in_reader, 0},
    {"g_bit_lock", NULL, in_bit, in_bit, 0},
    {"g_pointer_bit_lock", NULL, in_pointer_bit, in_pointer_bit, 0},
    {"g_cond_wait", NULL, signals, waits, TOGETHER},
    {"g_cond_wait_until", NULL, signals, waits_until, TOGETHER},
    {"g_once", NULL, in_once, after_once, 0},
    {"g_once_init", NULL, in_once_init, after_once_init, 0},
    {"g_async_queue_pop", make_queues, pushes, pops, 0},
    {"g_async_queue_try_pop", make_queues, pushes, tries_pop, 0},
    {"g_async_queue_lock", make_queues, in_queue_lock, in_queue_lock, 0},
    {"g_thread_pool_push", make_pool, pushes_work, frees_pool, TOGETHER},
    {"g_source_attach", make_context, attaches, loops, 0},
    {"g_thread_join", NULL, starts, nothing, 0},
    {"g_atomic_rc_box_release", make_counted, lets_go_early, lets_go_last, 0},
};
PAIRS_MAIN(pairs)
