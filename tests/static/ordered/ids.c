/* Accounts of an array, locked in the order of their numbers by ?:. BROKEN 1: in the order they come. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 8 };
struct account {
    pthread_mutex_t lock;
    long money;
};
static struct account accounts[N];

static void move(int from, int to, long amount)
{
    if (from == to)
        return;
#if BROKEN == 1
    int first = from, second = to;
#else
    int first = from < to ? from : to, second = from < to ? to : from;
#endif
    pthread_mutex_lock(&accounts[first].lock);
    pthread_mutex_lock(&accounts[second].lock);
    accounts[from].money -= amount;
    accounts[to].money += amount;
    pthread_mutex_unlock(&accounts[second].lock);
    pthread_mutex_unlock(&accounts[first].lock);
}

static void *clerk(void *arg)
{
    unsigned seed = (unsigned)(long)arg;
    for (int i = 0; i < 1000; i++)
        move(rand_r(&seed) % N, rand_r(&seed) % N, 1);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < N; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].money = 100;
    }
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, clerk, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", accounts[0].money);
    return 0;
}
