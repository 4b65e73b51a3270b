/* A shop with a till, of which each construct is to be seen in the abstract program. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct clerk {
    pthread_t thread;
    int number;
};

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static long money;
static int *goods;

static void open_shop(void)
{
    goods = calloc(8, sizeof *goods);
}

static int by_price(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void sort_goods(void)
{
    qsort(goods, 8, sizeof *goods, by_price);
}

static void tell_all(const char *form, ...)
{
    va_list all;
    va_start(all, form);
    vprintf(form, all);
    va_end(all);
}

static void *serve(void *arg)
{
    struct clerk *me = arg;
    if (pthread_mutex_trylock(&till) == 0) {
        money += me->number;
        pthread_mutex_unlock(&till);
    }
    pthread_once(&opened, open_shop);
    return NULL;
}

static void *close_shop(void *arg)
{
    tell_all("%s %ld\n", (char *)arg, money);
    return arg;
}

void *(*handlers[])(void *) = {serve, close_shop};

static void start_all(struct clerk *clerks, int n)
{
    for (int i = 0; i < n; i++) {
        clerks[i].number = i;
        pthread_create(&clerks[i].thread, NULL, serve, &clerks[i]);
    }
}

static void (*give_back)(void *) = free;

int main(int argc, char **argv)
{
    struct clerk *clerks = calloc((size_t)argc, sizeof *clerks);
    start_all(clerks, argc);
    for (int i = 0; i < argc; i++)
        pthread_join(clerks[i].thread, NULL);
    sort_goods();
    handlers[argc & 1](argv[0]);
    give_back(clerks);
    return 0;
}
