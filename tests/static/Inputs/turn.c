/* A shopper looks at the price and pays it; the shop is made to change it in between, in every run. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shelf {
    pthread_mutex_t lock;
    long stock;
};

static struct shelf *shelf;
static atomic_int turn; /* orders nothing but the test itself */

static void take_turn(int mine, int next)
{
    while (atomic_load_explicit(&turn, memory_order_relaxed) != mine)
        ;
    atomic_store_explicit(&turn, next, memory_order_relaxed);
}

static long look(struct shelf *s)
{
    pthread_mutex_lock(&s->lock);
    long stock = s->stock;
    pthread_mutex_unlock(&s->lock);
    return stock;
}

static void put(struct shelf *s, long stock)
{
    pthread_mutex_lock(&s->lock);
    s->stock = stock;
    pthread_mutex_unlock(&s->lock);
}

static void buy_one(struct shelf *s)
{
    long stock = look(s);
    take_turn(0, 1);
    take_turn(2, 3);
    put(s, stock - 1);
}

static void *shopper(void *unused)
{
    (void)unused;
    buy_one(shelf);
    return NULL;
}

static void *shop(void *unused)
{
    (void)unused;
    take_turn(1, 4);
    put(shelf, 10);
    take_turn(4, 2);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    shelf = calloc(1, sizeof *shelf);
    pthread_mutex_init(&shelf->lock, NULL);
    pthread_create(&first, NULL, shopper, NULL);
    pthread_create(&second, NULL, shop, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
