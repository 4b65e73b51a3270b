/* Deposits update the balance outside the lock that guards the count of them. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, deposits;

static void *deposit(void *amount)
{
    pthread_mutex_lock(&lock);
    deposits++;
    pthread_mutex_unlock(&lock);
    balance += *(int *)amount;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    int ten = 10, five = 5;
    pthread_create(&first, NULL, deposit, &ten);
    pthread_create(&second, NULL, deposit, &five);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("balance %d%s%s\n", balance, argc > 1 ? " " : "", argc > 1 ? argv[1] : "");
    return 0;
}
