/* Locks, conditions and once of GLib. GRecMutex, GRWLock and threads are made of libc's, which are seen by themselves.
 */
#include "runtime/interpose/glib/glib_meets.h"

struct dh_real_glib dh_real_glib;
bool dh_glib_known;

/* Weak: there when the program is linked with the library, whose functions are then known from the start. */
__attribute__((weak, visibility("default"))) extern void g_free(void *);

enum { LIBRARIES = 2 };

/* Of a library that was opened for a plugin alone, the next one in the order of search is not to be had. */
static void open_libraries(void *libraries[LIBRARIES])
{
    static const char *const names[LIBRARIES] = {"libglib-2.0.so.0", "libgobject-2.0.so.0"};
    bool is_in_order = dlsym(RTLD_NEXT, "g_mutex_lock");
    for (int i = 0; i < LIBRARIES; i++)
        libraries[i] = is_in_order ? NULL : dh_real.dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
}

static void *find(const char *name, void *const libraries[LIBRARIES])
{
    void *found = dlsym(RTLD_NEXT, name);
    for (int i = 0; !found && i < LIBRARIES; i++)
        found = libraries[i] ? dlsym(libraries[i], name) : NULL;
    return found;
}

void dh_glib_find(void)
{
    void *libraries[LIBRARIES];
    open_libraries(libraries);
#define DH_GLIB(result, name, parameters) dh_real_glib.name = (__typeof__(name) *)find(#name, libraries);
#include "runtime/interpose/glib/glib_list.def"
#undef DH_GLIB
    dlerror(); /* older ones do not have all of them */
    dh_glib_known = true;
}

void dh_glib_init(void)
{
    if (g_free)
        dh_glib_find();
}

/* ---- mutexes ---- */

static void dh_interposed_g_mutex_lock(void *lock)
{
    dh_glib_ready();
    DH_BY_ENGINE(g_mutex_lock, (lock));
    dh_lock_request();
    if (!dh_real_glib.g_mutex_trylock(lock)) {
        struct dh_wait w;
        dh_lock_wait(lock, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
        dh_wait_begin(&w, NULL, NULL);
        dh_real_glib.g_mutex_lock(lock);
        dh_wait_end(&w);
    }
    dh_lock_acquired(lock, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
}
DH_INTERPOSE(g_mutex_lock);

static int dh_interposed_g_mutex_trylock(void *lock)
{
    dh_glib_ready();
    DH_BY_ENGINE(g_mutex_trylock, (lock));
    dh_lock_request();
    int acquired = dh_real_glib.g_mutex_trylock(lock);
    if (acquired)
        dh_lock_acquired(lock, DH_LOCK_TRY, DH_CALL_SLOT);
    return acquired;
}
DH_INTERPOSE(g_mutex_trylock);

static void dh_interposed_g_mutex_unlock(void *lock)
{
    dh_glib_ready();
    DH_BY_ENGINE(g_mutex_unlock, (lock));
    dh_lock_released(lock, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    dh_real_glib.g_mutex_unlock(lock);
}
DH_INTERPOSE(g_mutex_unlock);

static void dh_interposed_g_mutex_init(void *lock)
{
    dh_glib_ready();
    dh_lock_init(lock, DH_CALL_SLOT);
    dh_real_glib.g_mutex_init(lock);
}
DH_INTERPOSE(g_mutex_init);

static void dh_interposed_g_mutex_clear(void *lock)
{
    dh_glib_ready();
    dh_lock_destroyed(lock, DH_CALL_SLOT);
    dh_real_glib.g_mutex_clear(lock);
}
DH_INTERPOSE(g_mutex_clear);

/* ---- conditions ---- */

struct glib_wait {
    const void *cond, *mutex;
    const uintptr_t *call_slot;
    bool timed_out;
};

static void woken(void *memory)
{
    const struct glib_wait *g = memory;
    dh_lock_acquired(g->mutex, DH_LOCK_BY_WAIT, g->call_slot);
    dh_condition_woken(g->cond, g->mutex, g->timed_out, g->call_slot);
}

static void begin_wait(struct dh_wait *w, struct glib_wait *g, unsigned mode)
{
    dh_sync_point();
    dh_condition_wait(g->cond, g->mutex, mode, g->call_slot);
    dh_lock_released(g->mutex, DH_LOCK_BY_WAIT, g->call_slot);
    dh_wait_begin(w, woken, g);
}

static void dh_interposed_g_cond_wait(void *cond, void *mutex)
{
    struct dh_wait w;
    struct glib_wait g = {cond, mutex, DH_CALL_SLOT, false};
    dh_glib_ready();
    DH_BY_ENGINE(g_cond_wait, (cond, mutex));
    begin_wait(&w, &g, 0);
    dh_real_glib.g_cond_wait(cond, mutex);
    dh_wait_end(&w);
    woken(&g);
}
DH_INTERPOSE(g_cond_wait);

static int dh_interposed_g_cond_wait_until(void *cond, void *mutex, int64_t until)
{
    struct dh_wait w;
    struct glib_wait g = {cond, mutex, DH_CALL_SLOT, false};
    dh_glib_ready();
    DH_BY_ENGINE(g_cond_wait_until, (cond, mutex, until));
    begin_wait(&w, &g, DH_LOCK_TIMED);
    int in_time = dh_real_glib.g_cond_wait_until(cond, mutex, until);
    dh_wait_end(&w);
    g.timed_out = !in_time;
    woken(&g);
    return in_time;
}
DH_INTERPOSE(g_cond_wait_until);

#define SIGNALS(name, all)                                                                                             \
    static void dh_interposed_##name(void *cond)                                                                       \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        DH_BY_ENGINE(name, (cond));                                                                                    \
        dh_condition_signal(cond, all, DH_CALL_SLOT);                                                                  \
        dh_real_glib.name(cond);                                                                                       \
    }                                                                                                                  \
    DH_INTERPOSE(name);

SIGNALS(g_cond_signal, false)
SIGNALS(g_cond_broadcast, true)

/* ---- locks of one bit: several of them lie in one word, so they order as the word does and are held by nobody ---- */

#define BITS(type, lock_name, trylock_name, unlock_name)                                                               \
    static void dh_interposed_##lock_name(type *word, int bit)                                                         \
    {                                                                                                                  \
        struct dh_wait w;                                                                                              \
        dh_glib_ready();                                                                                               \
        if (dh_engine_on)                                                                                              \
            dh_engine_meets((const void *)word);                                                                       \
        if (!dh_real_glib.trylock_name(word, bit)) {                                                                   \
            dh_wait_begin(&w, NULL, NULL);                                                                             \
            dh_real_glib.lock_name(word, bit);                                                                         \
            dh_wait_end(&w);                                                                                           \
        }                                                                                                              \
        dh_glib_met((const void *)word);                                                                               \
    }                                                                                                                  \
    DH_INTERPOSE(lock_name);                                                                                           \
                                                                                                                       \
    static int dh_interposed_##trylock_name(type *word, int bit)                                                       \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        if (dh_engine_on)                                                                                              \
            dh_engine_meets((const void *)word);                                                                       \
        int acquired = dh_real_glib.trylock_name(word, bit);                                                           \
        if (acquired)                                                                                                  \
            dh_glib_met((const void *)word);                                                                           \
        return acquired;                                                                                               \
    }                                                                                                                  \
    DH_INTERPOSE(trylock_name);                                                                                        \
                                                                                                                       \
    static void dh_interposed_##unlock_name(type *word, int bit)                                                       \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        dh_glib_meet((const void *)word, true);                                                                        \
        dh_real_glib.unlock_name(word, bit);                                                                           \
    }                                                                                                                  \
    DH_INTERPOSE(unlock_name);

BITS(volatile int, g_bit_lock, g_bit_trylock, g_bit_unlock)
BITS(volatile void, g_pointer_bit_lock, g_pointer_bit_trylock, g_pointer_bit_unlock)

/* ---- once ---- */

struct routine {
    void *once;
    dh_glib_routine routine;
    void *argument;
};

static void *run_once(void *memory)
{
    struct routine r = *(const struct routine *)memory;
    void *value = r.routine(r.argument);
    dh_sync_release(r.once, DH_SYNC_ONCE);
    if (dh_engine_on)
        dh_engine_glib_once_done(r.once, sizeof(int));
    return value;
}

static void *dh_interposed_g_once_impl(void *once, dh_glib_routine routine, void *argument)
{
    struct routine r = {once, routine, argument};
    dh_glib_ready();
    if (dh_engine_on)
        dh_engine_once_begins(once);
    void *value = dh_real_glib.g_once_impl(once, run_once, &r);
    dh_sync_acquire(once, DH_SYNC_ONCE);
    return value;
}
DH_INTERPOSE(g_once_impl);

/* Answers whether the caller is the one to initialise. */
#define ENTERS(name, type)                                                                                             \
    static int dh_interposed_##name(type *flag)                                                                        \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        if (dh_engine_on)                                                                                              \
            dh_engine_glib_once_enters((const void *)flag);                                                            \
        int first = DH_WAIT(dh_real_glib.name(flag));                                                                  \
        if (!first)                                                                                                    \
            dh_glib_met((const void *)flag);                                                                           \
        return first;                                                                                                  \
    }                                                                                                                  \
    DH_INTERPOSE(name);

ENTERS(g_once_init_enter, volatile void)
ENTERS(g_once_init_enter_impl, volatile size_t)
ENTERS(g_once_init_enter_pointer, void)

#define LEAVES(name, type, value_type)                                                                                 \
    static void dh_interposed_##name(type *flag, value_type value)                                                     \
    {                                                                                                                  \
        dh_glib_ready();                                                                                               \
        dh_sync_release((const void *)flag, DH_SYNC_ONCE);                                                             \
        if (dh_engine_on)                                                                                              \
            dh_engine_glib_once_done((const void *)flag, sizeof value);                                                \
        dh_real_glib.name(flag, value);                                                                                \
    }                                                                                                                  \
    DH_INTERPOSE(name);

LEAVES(g_once_init_leave, volatile void, size_t)
LEAVES(g_once_init_leave_pointer, void, void *)
