/* Two threads ask for a ring of io_uring, which nobody can take back, and count without a lock.
 * Expected: race on asked. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int asked;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *ask(void *unused)
{
    (void)unused;
    syscall(SYS_io_uring_setup, 0, NULL);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    asked++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, ask, NULL);
    pthread_create(&b, NULL, ask, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", asked);
    return asked != 2;
}
