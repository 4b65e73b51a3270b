/* Two tellers book on one account: `deposit` reads the balance, thinks, and writes it back. What the other wrote in
 * between is lost.
 * Expected: atomicity observed at `read` and `write`. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

/* Of no interest to anybody but the scheduler. */
static void think(void)
{
    struct timespec nap = {0, 2000000};
    syscall(SYS_nanosleep, &nap, NULL);
}

static void deposit(struct account *a, long amount)
{
    long balance = a->balance; /* read */
    think();
    a->balance = balance + amount; /* write */
}

static void *teller(void *account)
{
    for (int i = 0; i < 50; i++)
        deposit(account, 1);
    return NULL;
}

int main(void)
{
    struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};
    pthread_t tellers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, &account);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    puts("closed");
    return 0;
}
