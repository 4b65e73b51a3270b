// fork from a thread while others hold locks; pthread_atfork handlers; the child starts threads again.
// FLAGS: -pthread
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void prepare(void)
{
    pthread_mutex_lock(&lock);
}
static void release(void)
{
    pthread_mutex_unlock(&lock);
}
static void *worker(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        counter += *(int *)arg;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
static void *forker(void *arg)
{
    int one = 1, failures = 0;
    for (int i = 0; i < 5; i++) {
        pid_t p = fork();
        if (p == 0) {
            pthread_t t;
            counter = 0;
            pthread_create(&t, NULL, worker, &one);
            pthread_join(t, NULL);
            _exit(counter == 2000 ? 11 : 12);
        }
        int status = 0;
        waitpid(p, &status, 0);
        failures += WEXITSTATUS(status) != 11;
    }
    *(int *)arg = failures;
    return NULL;
}

int main(void)
{
    pthread_atfork(prepare, release, release);
    pthread_t a, b, f;
    int two = 2, three = 3, failures = -1;
    pthread_create(&a, NULL, worker, &two);
    pthread_create(&f, NULL, forker, &failures);
    pthread_create(&b, NULL, worker, &three);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(f, NULL);
    printf("%d %d\n", counter, failures);
    return 0;
}
