/* Places for findings of every kind: a bank whose tellers do everything wrong at once. Only its places are used. */
#include <pthread.h>
#include <semaphore.h>

struct account {
    int balance, credit;
    pthread_mutex_t lock;
};

struct account house_account;
pthread_mutex_t front = PTHREAD_MUTEX_INITIALIZER, back = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t money = PTHREAD_COND_INITIALIZER;
int waiting;

void teller(struct account *a)
{
    pthread_mutex_lock(&front);
    a->balance += 10;
    pthread_mutex_lock(&back);
    a->credit = a->balance;
    pthread_mutex_unlock(&back);
    pthread_mutex_unlock(&front);
}

int audit(struct account *a)
{
    pthread_mutex_lock(&back);
    int sum = a->balance;
    pthread_mutex_lock(&front);
    sum += a->credit;
    pthread_mutex_unlock(&front);
    pthread_mutex_unlock(&back);
    return sum;
}

void wait_for_money(void)
{
    pthread_mutex_lock(&front);
    while (!waiting)
        pthread_cond_wait(&money, &front);
    pthread_mutex_unlock(&front);
}

void bring_money(void)
{
    waiting = 1;
    pthread_cond_signal(&money);
}

static void *work(void *arg)
{
    teller(arg);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, &house_account);
    audit(&house_account);
    wait_for_money();
    bring_money();
    return pthread_join(t, NULL);
}
