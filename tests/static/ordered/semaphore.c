/* A semaphore made by hand, used as a lock. BROKEN 1: it lets two in. 2: one forgets to ask. 3: given back too early. */
#include <pthread.h>
#include <stdio.h>
struct semaphore {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int count;
};
#if BROKEN == 1
static struct semaphore gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 2};
#else
static struct semaphore gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1};
#endif
static long balance;

static void down(struct semaphore *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->count == 0)
        pthread_cond_wait(&s->more, &s->lock);
    s->count--;
    pthread_mutex_unlock(&s->lock);
}

static void up(struct semaphore *s)
{
    pthread_mutex_lock(&s->lock);
    s->count++;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static void *teller(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
#if BROKEN != 2
        down(&gate);
#endif
#if BROKEN == 3
        up(&gate);
        balance += i;
#else
        balance += i;
        up(&gate);
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, teller, NULL);
    pthread_create(&b, NULL, teller, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%ld\n", balance);
    return 0;
}
