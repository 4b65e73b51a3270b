/* An update that is not atomic under two locks loses one; the assertion says so.
 * drive: --schedules=5000 --extend
 * expect: found assertion: .*signal 6.*total == 2
 * expect: found race
 * replay: found (assertion|race|unordered) */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *adder(void *a)
{
    pthread_mutex_lock(&m);
    int seen = total;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    total = seen + 1;
    pthread_mutex_unlock(&m);
    return a;
}

static int unguarded;

static void *counter(void *a)
{
    unguarded++;
    return adder(a);
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, counter, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(total == 2);
}
