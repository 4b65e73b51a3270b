/* A test under a watchdog whose handler reports the time-out and aborts: two threads lock two locks crosswise. That the
 * watchdog could come before its time is no bug of the program.
 * Expected: deadlock. */
#include "threads.h"

#include <signal.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void on_alarm(int signal)
{
    static const char words[] = "timed out\n";
    (void)signal;
    if (write(STDERR_FILENO, words, sizeof words - 1) > 0)
        abort();
}

static void *mover(void *arg)
{
    pthread_mutex_t *own = arg == &second ? &second : &first, *other = own == &first ? &second : &first;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(own);
        pthread_mutex_lock(other);
        moved++;
        pthread_mutex_unlock(other);
        pthread_mutex_unlock(own);
    }
    return NULL;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &a, NULL);
    alarm(10);
    pthread_t one, two;
    pthread_create(&one, NULL, mover, &first);
#ifdef FIXED
    pthread_create(&two, NULL, mover, &first);
#else
    pthread_create(&two, NULL, mover, &second);
#endif
    finish(one);
    finish(two);
    alarm(0);
    return moved != 4;
}
