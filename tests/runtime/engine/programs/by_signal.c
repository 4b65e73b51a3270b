/* A program that ends by a signal which it sends itself, as it does without the engine: that is no defect, and there are
 * other schedules behind it.
 * drive: --schedules=200 --extend --strategy=dpor
 * expect: found race
 * expect: ends: .*done
 * refuse: found (crash|assertion|deadlock)
 * replay: found (race|unordered) */
#include <pthread.h>
#include <signal.h>

static int total;

static void *adder(void *a)
{
    total++;
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, adder, NULL);
    total++;
    pthread_join(t, NULL);
    raise(SIGTERM);
    return 0;
}
