/* Two workers compute for long, and on the way each accesses what the other does, three variables without the lock and
 * one under it (with -DFIXED all). A schedule takes long, so that it should show more than one of the races. */
#include <pthread.h>
#include <stdio.h>

enum { WORK = 40000, ROUNDS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tasks_done, bytes_read, bytes_written, guarded;

#ifdef FIXED
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK()
#define UNLOCK()
#endif

static unsigned long compute(unsigned long *own, unsigned seed)
{
    unsigned long sum = seed;
    for (int i = 0; i < WORK; i++) {
        own[i % 512] += sum ^ (unsigned long)i;
        sum = sum * 6364136223846793005u + own[(sum >> 40) % 512];
    }
    return sum;
}

static void finish_task(void)
{
    LOCK();
    tasks_done++;
    UNLOCK();
}

static void count_input(int n)
{
    LOCK();
    bytes_read += n;
    UNLOCK();
}

static void count_output(int n)
{
    LOCK();
    bytes_written += n;
    UNLOCK();
}

static void add_guarded(void)
{
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *seed)
{
    unsigned long own[512] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        count_input(1);
        *(unsigned *)seed = (unsigned)compute(own, *(unsigned *)seed);
        add_guarded();
        count_output(1);
        finish_task();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned seeds[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &seeds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", guarded);
    return 0;
}
