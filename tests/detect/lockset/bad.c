/* Both clerks count the customers without the lock that they hold for the till. As long as one happens to be done with
 * the till before the other begins, the till's lock orders the counting, and happens-before sees nothing.
 * Expected: a suspected race on `customers`, both at the line of the increment in `clerk`. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t till_lock = PTHREAD_MUTEX_INITIALIZER;
static int till, customers;

static void *clerk(void *arg)
{
    for (int i = 0; i < 3; i++) {
        customers++;
        pthread_mutex_lock(&till_lock);
        till += *(int *)arg;
        pthread_mutex_unlock(&till_lock);
    }
    return NULL;
}

int main(void)
{
    int price[2] = {3, 5};
    pthread_t clerks[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&clerks[i], NULL, clerk, &price[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(clerks[i], NULL);
    printf("till %d\n", till);
    return customers > 6;
}
