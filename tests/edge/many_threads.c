// Three hundred threads alive at once, then a thousand short ones; names, detached ones, small stacks.
// FLAGS: -pthread
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int alive, done;
static pthread_barrier_t all;
static char names[300][16];

static void *together(void *arg)
{
    int id = (int)(long)arg;
    char name[16];
    snprintf(name, sizeof name, "worker-%d", id);
    pthread_setname_np(pthread_self(), name);
    atomic_fetch_add(&alive, 1);
    pthread_barrier_wait(&all);
    pthread_getname_np(pthread_self(), names[id], sizeof names[id]);
    return arg;
}
static void *brief(void *arg)
{
    atomic_fetch_add(&done, *(int *)arg);
    return NULL;
}

int main(void)
{
    static pthread_t t[300];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    pthread_barrier_init(&all, NULL, 301);
    for (long i = 0; i < 300; i++)
        if (pthread_create(&t[i], &small, together, (void *)i))
            return 1;
    pthread_barrier_wait(&all);
    long sum = 0;
    for (int i = 0; i < 300; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += (long)r;
    }
    printf("%d %ld %s %s\n", alive, sum, names[0], names[299]);
    int two = 2;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 10; i++)
            pthread_create(&t[i], &small, brief, &two);
        for (int i = 0; i < 10; i++)
            pthread_join(t[i], NULL);
    }
    printf("%d\n", done);
    return 0;
}
