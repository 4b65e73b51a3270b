// A thread calls exit while main waits for it; main thread leaves by pthread_exit elsewhere.
// FLAGS: -pthread
// EXIT: 42
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t main_thread;

static void bye(void)
{
    printf("atexit in the thread: %d\n", !pthread_equal(pthread_self(), main_thread));
}
static void *last(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL);
    printf("main has left\n");
    exit(42);
}

int main(void)
{
    main_thread = pthread_self();
    atexit(bye);
    pthread_t t;
    pthread_create(&t, NULL, last, &main_thread);
    pthread_exit(NULL);
}
