/* The barber looks into the waiting room and then falls asleep; a customer who comes in between sees him awake,
 * sits down, and nobody is ever woken.
 * Expected: deadlock or lost-wakeup at `sleep`. */
#include "threads.h"

#include <semaphore.h>
#include <stdatomic.h>

static sem_t bell;
static atomic_int waiting;
#ifndef FIXED
static atomic_int asleep;
#endif
static int haircuts;

static void *customer(void *arg)
{
    waiting++;
#ifndef FIXED
    if (asleep)
#endif
        sem_post(&bell);
    return arg;
}

static void *barber(void *arg)
{
#ifdef FIXED
    sem_wait(&bell);
#else
    if (waiting == 0) {
        asleep = 1;
        sem_wait(&bell); /* sleep */
        asleep = 0;
    }
#endif
    waiting--;
    haircuts++;
    return arg;
}

int main(void)
{
    sem_init(&bell, 0, 0);
    RUN(customer, barber);
    return 0;
}
