/* Blocks that are handed over under a lock, grow, are freed and allocated again, and locals whose place others had: a
 * value of what was there before is never seen. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parcel {
    long owner;
    long content[6];
};

static struct parcel *parcel; /* guarded by lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void check(const struct parcel *p, long owner)
{
    if (p->owner != owner)
        abort();
}

static void local(long owner)
{
    struct parcel here, there;
    here.owner = owner;
    there = here;
    check(&there, owner);
}

static void *trader(void *name)
{
    long me = (intptr_t)name;
    for (int i = 0; i < 40; i++) {
        struct parcel *mine = malloc(sizeof *mine);
        mine->owner = me + i;
        if (i % 2)
            mine = realloc(mine, 4096);
        check(mine, me + i);
        pthread_mutex_lock(&lock);
        struct parcel *old = parcel;
        parcel = mine;
        pthread_mutex_unlock(&lock);
        if (old) {
            struct parcel copy;
            memcpy(&copy, old, sizeof copy);
            check(old, copy.owner);
            memset(old, 0, sizeof *old);
            check(old, 0);
            free(old);
        }
        local(me - i);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int round = 0; round < 2; round++) {
        for (intptr_t i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, trader, (void *)(1000 * (i + 1)));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    puts("ok");
    free(parcel);
    return 0;
}
