/* Every lock is one thread's own for a while, and then another comes: nothing is lost when it does, nor in a child. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNTERS = 200, TURNS = 2000 };

struct counter {
    long n;
    char apart[56];
};

static struct counter counters[COUNTERS];
static atomic_int begun[COUNTERS];

__attribute__((noinline)) static void add(struct counter *c)
{
    c->n++;
}

static void *own(void *unused)
{
    (void)unused;
    for (int i = 0; i < COUNTERS; i++)
        for (int k = 0; k < TURNS; k++) {
            add(&counters[i]);
            if (k == i)
                atomic_store(&begun[i], 1);
        }
    return NULL;
}

static void *come(void *unused)
{
    (void)unused;
    for (int i = 0; i < COUNTERS; i++) {
        while (!atomic_load(&begun[i]))
            continue;
        for (int k = 0; k < TURNS; k++)
            add(&counters[i]);
    }
    return NULL;
}

static int count(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, own, NULL);
    pthread_create(&b, NULL, come, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int wrong = 0;
    for (int i = 0; i < COUNTERS; i++) {
        wrong += counters[i].n != 2 * TURNS;
        counters[i].n = begun[i] = 0;
    }
    return wrong;
}

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(count() != 0);
    int wrong = count();
    waitpid(child, &status, 0);
    puts(wrong || status ? "lost" : "ok");
    return wrong || status;
}
