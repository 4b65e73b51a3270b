#include <pthread.h>
#include <stddef.h>
int calc_add(int);
void greet(const char *, int);
static int result;
static void *work(void *arg)
{
    result = calc_add(*(int *)arg);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t;
    int v = 42;
    pthread_create(&t, NULL, work, &v);
    pthread_join(t, NULL);
    greet(argc > 1 ? argv[1] : "nobody", result);
    return 0;
}
