/* Two tellers of a vault: the count of visits is raced, the money is not; the locks of vault and log are taken in
 * opposite orders. FIXED: neither. With an argument the second comes when the first is done, most likely: no deadlock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t vault = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static long money, visits, entries;

static void note(void)
{
    pthread_mutex_lock(&log_lock);
    entries++;
    pthread_mutex_unlock(&log_lock);
}

static void *saver(void *arg)
{
    pthread_mutex_lock(&vault);
    money += 10;
    note();
    pthread_mutex_unlock(&vault);
#ifdef FIXED
    pthread_mutex_lock(&log_lock);
#endif
    visits++;
#ifdef FIXED
    pthread_mutex_unlock(&log_lock);
#endif
    return arg;
}

static void *auditor(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&vault);
    pthread_mutex_lock(&log_lock);
#else
    pthread_mutex_lock(&log_lock);
    pthread_mutex_lock(&vault);
#endif
    long sum = money + entries;
    pthread_mutex_unlock(&vault);
    pthread_mutex_unlock(&log_lock);
#ifdef FIXED
    pthread_mutex_lock(&log_lock);
#endif
    visits++;
#ifdef FIXED
    pthread_mutex_unlock(&log_lock);
#endif
    return sum ? arg : NULL;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    visits = 0;
    pthread_create(&one, NULL, saver, NULL);
    if (argc > 1)
        usleep(2000000);
    pthread_create(&two, NULL, auditor, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%ld\n", visits);
    (void)argv;
    return 0;
}
