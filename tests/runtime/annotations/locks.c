/* Locks of the program's own making, which a detector knows from annotations only: their code orders nothing that it
 * could see. Broken: not told, or told what does not happen. */
#include "case.h"

#include <deadheat/annotate.h>
#include <deadheat/annotate_abi.h>

enum { READ_LOCK = 1 << 3, TRY_LOCK_FAILED = 1 << 5, RECURSIVE_LOCK = 1 << 6, RECURSIVE_UNLOCK = 1 << 7 };

static char lock, other;

static void tsan_lock(void *l, unsigned flags)
{
    __tsan_mutex_pre_lock(l, flags);
    __tsan_mutex_post_lock(l, flags, 0);
}
static void tsan_unlock(void *l, unsigned flags)
{
    __tsan_mutex_pre_unlock(l, flags);
    __tsan_mutex_post_unlock(l, flags);
}

static void tsan_writer(void)
{
    tsan_lock(&lock, 0);
    shared++;
    tsan_unlock(&lock, 0);
}
static void tsan_other_writer(void)
{
    char *mine = broken ? &other : &lock;
    tsan_lock(mine, 0);
    shared++;
    tsan_unlock(mine, 0);
}

/* Two readers are not ordered among each other. */
static void tsan_shared_writer(void)
{
    unsigned flags = broken ? READ_LOCK : 0;
    tsan_lock(&lock, flags);
    shared++;
    tsan_unlock(&lock, flags);
}

static void try_in_vain(void)
{
    __tsan_mutex_pre_lock(&lock, 1 << 4);
    __tsan_mutex_post_lock(&lock, (1 << 4) | (broken ? TRY_LOCK_FAILED : 0), 0);
    shared++;
    if (!broken)
        tsan_unlock(&lock, 0);
}

static void unlock_twice(void)
{
    tsan_writer();
    if (broken)
        tsan_unlock(&lock, 0);
}

static void lock_twice(void)
{
    tsan_lock(&lock, 0);
    if (broken)
        tsan_lock(&lock, 0);
    tsan_unlock(&lock, 0);
}

static void recursive(void)
{
    __tsan_mutex_pre_lock(&lock, RECURSIVE_LOCK);
    __tsan_mutex_post_lock(&lock, RECURSIVE_LOCK, 3);
    shared++;
    int n = __tsan_mutex_pre_unlock(&lock, broken ? 0 : RECURSIVE_UNLOCK);
    __tsan_mutex_post_unlock(&lock, 0);
    if (!broken && n != 3)
        abort();
}

static void destroy_held(void)
{
    __tsan_mutex_create(&lock, 0);
    tsan_lock(&lock, 0);
    if (!broken)
        tsan_unlock(&lock, 0);
    __tsan_mutex_destroy(&lock, 0);
}

/* While a lock is being taken, its own accesses are not looked at, but those of what it is interrupted for are. */
static void inside_lock(void)
{
    __tsan_mutex_pre_lock(&lock, 0);
    if (broken)
        __tsan_mutex_pre_divert(&lock, 0);
    shared++;
    if (broken)
        __tsan_mutex_post_divert(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    tsan_unlock(&lock, 0);
}

static void signal_inside(void)
{
    if (!broken)
        __tsan_mutex_pre_signal(&lock, 0);
    shared++;
    if (!broken)
        __tsan_mutex_post_signal(&lock, 0);
}

static void rw_writer(void)
{
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
    shared++;
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
}
static void rw_other_writer(void)
{
    long is_writer = !broken;
    AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, is_writer);
    shared++;
    AnnotateRWLockReleased(__FILE__, __LINE__, &lock, is_writer);
}
static void rw_release_again(void)
{
    AnnotateRWLockCreate(__FILE__, __LINE__, &lock);
    rw_writer();
    if (broken)
        AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &lock);
}

/* Ours. */
static void own_lock(char *l)
{
    DEADHEAT_ACQUIRING(l);
    DEADHEAT_ACQUIRED(l);
}
static void own_unlock(char *l)
{
    DEADHEAT_RELEASING(l);
    DEADHEAT_RELEASED(l);
}
static void own_writer(void)
{
    own_lock(&lock);
    shared++;
    own_unlock(&lock);
}
static void own_other_writer(void)
{
    own_lock(&lock);
    if (broken)
        own_unlock(&lock);
    shared++;
    if (!broken)
        own_unlock(&lock);
}
static void own_unlock_again(void)
{
    own_writer();
    if (broken)
        own_unlock(&lock);
}
static void says_it_holds(void)
{
    own_lock(broken ? &other : &lock);
    DEADHEAT_ASSERT_HELD(&lock);
    own_unlock(broken ? &other : &lock);
}

static pthread_mutex_t posix = PTHREAD_MUTEX_INITIALIZER;
static void says_it_holds_posix(void)
{
    if (!broken)
        pthread_mutex_lock(&posix);
    DEADHEAT_ASSERT_HELD(&posix);
    if (!broken)
        pthread_mutex_unlock(&posix);
}

static const struct test all[] = {
    {"mutex", RACE, nothing, tsan_writer, tsan_other_writer},
    {"mutex_shared", RACE, nothing, tsan_shared_writer, tsan_shared_writer},
    {"mutex_try", RACE, nothing, tsan_writer, try_in_vain},
    {"mutex_recursive", RACE, nothing, recursive, tsan_writer},
    {"mutex_unlock", "gives back a lock that it does not hold", nothing, unlock_twice, nothing},
    {"mutex_lock", "takes a lock that it holds already", nothing, nothing, lock_twice},
    {"mutex_destroy", "destroyed that the thread still holds", nothing, destroy_held, nothing},
    {"mutex_divert", RACE, nothing, inside_lock, inside_lock},
    {"mutex_signal", RACE, nothing, signal_inside, signal_inside},
    {"rwlock", RACE, nothing, rw_other_writer, rw_other_writer},
    {"rwlock_unlock", "gives back a lock that it does not hold", nothing, rw_release_again, nothing},
    {"own", RACE, nothing, own_other_writer, own_other_writer},
    {"own_unlock", "gives back a lock that it does not hold", nothing, own_unlock_again, nothing},
    {"assert_held", "DEADHEAT_ASSERT_HELD", nothing, says_it_holds, nothing},
    {"assert_held_posix", "DEADHEAT_ASSERT_HELD", nothing, nothing, says_it_holds_posix},
};
CASES(all)
