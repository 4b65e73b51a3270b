/* A deposit reads the balance in one section and writes it in another; each is locked, the deposit as a whole is not.
 * Expected: atomicity on `balance` at `read` and `write`.
 * Options: --sections=@/read_then_write.sections */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int balance = 100;

static void deposit(int amount)
{
    pthread_mutex_lock(&lock);
    int old = balance; /* read */
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    balance = old + amount; /* write */
    pthread_mutex_unlock(&lock);
}

static void *customer(void *arg)
{
    deposit(5);
    return arg;
}

int main(void)
{
    RUN(customer, customer);
    return balance < 100;
}
