// suspect: table
// Readers use the table only if it is there already, else they compute; broken: the look is relaxed.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

static int table[256];
static atomic_int built;
static atomic_int total;

static void *builder(void *arg)
{
    for (int i = 0; i < 256; i++)
        table[i] = i * i;
    atomic_store_explicit(&built, 1, memory_order_release);
    return arg;
}

static void *user(void *arg)
{
    for (int i = 0; i < 256; i++) {
        if (atomic_load_explicit(&built, LOOK))
            total += table[i];
        else
            total += i * i;
    }
    return arg;
}

int main(void)
{
    pthread_t b, u[2];
    pthread_create(&b, 0, builder, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&u[i], 0, user, 0);
    pthread_join(b, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(u[i], 0);
    return total == 0;
}
