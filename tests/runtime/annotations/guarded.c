/* What a lock guards, by our annotation and by clang's: fields beside their lock, behind a pointer to it, globals, what
 * a pointer leads to. Order is kept by other means, so that the promise alone is broken. */
#include "case.h"

#include <deadheat/annotate.h>
#include <deadheat/annotate_abi.h>

static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static char order;

struct account {
    pthread_mutex_t lock;
    int balance DEADHEAT_GUARDED_BY(lock);
    int limit __attribute__((guarded_by(lock)));
    int rate DEADHEAT_GUARDED_BY(&global_lock);
    int owners[4] DEADHEAT_GUARDED_BY(lock);
    int *history __attribute__((pt_guarded_by(lock)));
};
struct view {
    pthread_mutex_t *lock;
    int width DEADHEAT_GUARDED_BY(lock);
};
static int total DEADHEAT_GUARDED_BY(global_lock);
static struct {
    int first DEADHEAT_GUARDED_BY(global_lock), second;
} both;

static struct account *account;
static struct view *view;

/* Before others know it, nobody needs a lock. */
static void open_account(void)
{
    account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->balance = account->limit = account->rate = 1;
    account->owners[0] = 1;
    account->history = calloc(1, sizeof *account->history);
    view = calloc(1, sizeof *view);
    view->lock = &account->lock;
    view->width = 3;
    total = 1;
    both.first = 1;
}

static void with(pthread_mutex_t *lock, void (*act)(void))
{
    pthread_mutex_lock(lock);
    act();
    pthread_mutex_unlock(lock);
    __tsan_release(&order);
}
static void without(pthread_mutex_t *lock, void (*act)(void))
{
    __tsan_acquire(&order);
    if (!broken)
        pthread_mutex_lock(lock);
    act();
    if (!broken)
        pthread_mutex_unlock(lock);
}

#define PAIR(name, lock, act)                                                                                          \
    static void act_##name(void)                                                                                       \
    {                                                                                                                  \
        act;                                                                                                           \
    }                                                                                                                  \
    static void first_##name(void)                                                                                     \
    {                                                                                                                  \
        with(lock, act_##name);                                                                                        \
    }                                                                                                                  \
    static void second_##name(void)                                                                                    \
    {                                                                                                                  \
        without(lock, act_##name);                                                                                     \
    }
PAIR(field, &account->lock, account->balance++)
PAIR(clang, &account->lock, account->limit++)
PAIR(outer, &global_lock, account->rate++)
PAIR(element, &account->lock, account->owners[shared]++)
PAIR(pointee, &account->lock, *account->history += 1)
PAIR(pointed, &account->lock, view->width++)
PAIR(variable, &global_lock, total++)
PAIR(first_of_global, &global_lock, both.first++)

/* The address alone is no access. */
static void take_address(void)
{
    int *p = &account->balance;
    if (broken)
        ++*p;
    pthread_mutex_lock(&account->lock);
    account->balance++;
    pthread_mutex_unlock(&account->lock);
}
static void only_locked(void)
{
    pthread_mutex_lock(&account->lock);
    account->balance++;
    pthread_mutex_unlock(&account->lock);
}

#define SAYS(lock) "the source says guarded_by\\(" lock "\\), and the thread does not hold it"
static const struct test all[] = {
    {"field", SAYS("lock"), open_account, first_field, second_field},
    {"clang", SAYS("lock"), open_account, first_clang, second_clang},
    {"outer", SAYS("&global_lock"), open_account, first_outer, second_outer},
    {"element", SAYS("lock"), open_account, first_element, second_element},
    {"pointee", "the source says pt_guarded_by\\(lock\\)", open_account, first_pointee, second_pointee},
    {"pointed", SAYS("lock"), open_account, first_pointed, second_pointed},
    {"variable", SAYS("global_lock"), open_account, first_variable, second_variable},
    {"first_of_global", SAYS("global_lock"), open_account, first_first_of_global, second_first_of_global},
    {"address", "data race on", open_account, only_locked, take_address},
};
CASES(all)
