/* The twin of bad.c: the customers are counted inside the section that the till has anyway.
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t till_lock = PTHREAD_MUTEX_INITIALIZER;
static int till, customers;

static void *clerk(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&till_lock);
        customers++;
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
