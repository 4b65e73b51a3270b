/* What a program does depends on the second in which it started its threads, and every process takes another time to
 * come there. */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds, total;

static void *add(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    total++;
    return unused;
}

/* Up to a second, by a system call that nobody stands before. */
static void start_slowly(void)
{
    struct timespec time = {getpid() % 2, 0};
    syscall(SYS_nanosleep, &time, NULL);
}

int main(void)
{
    pthread_t threads[2];
    time_t began = time(NULL);
    start_slowly();
    rounds = (int)(time(NULL) - began);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 2;
}
