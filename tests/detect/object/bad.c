/* Two clerks post to accounts that main made. The balance is guarded, the number of bookings is not, and both are
 * fields of one object. Expected: a suspected race on `struct account.bookings`, both at the line of its increment. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance, bookings;
};

static void *clerk(void *arg)
{
    struct account *a = arg;
    for (int i = 0; i < 3; i++) {
        a->bookings++;
        pthread_mutex_lock(&a->lock);
        a->balance += 10;
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

int main(void)
{
    struct account *a = calloc(1, sizeof *a);
    pthread_t clerks[2];
    pthread_mutex_init(&a->lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&clerks[i], NULL, clerk, a);
    for (int i = 0; i < 2; i++)
        pthread_join(clerks[i], NULL);
    printf("balance %ld\n", a->balance);
    int wrong = a->bookings > 6;
    free(a);
    return wrong;
}
