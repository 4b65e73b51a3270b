/* Two threads pay into an account of the library; the sum is asked for afterwards. */
#include <assert.h>
#include <pthread.h>

void deposit(int amount);
int balance_now(void);

static void *pay(void *amount)
{
    deposit(*(int *)amount);
    return NULL;
}

int main(void)
{
    int ten = 10, five = 5;
    pthread_t a, b;
    pthread_create(&a, NULL, pay, &ten);
    pthread_create(&b, NULL, pay, &five);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(balance_now() == 15);
    return 0;
}
