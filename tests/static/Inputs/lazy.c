/* Whoever comes first makes the configuration; whoever finds it uses it, ready or not. */
#include <pthread.h>
#include <stdlib.h>

struct config {
    int limit;
};

static struct config *config;

static void *user(void *unused)
{
    (void)unused;
    if (!config) {
        struct config *c = malloc(sizeof *c);
        c->limit = 7;
        config = c;
    }
    return config->limit == 7 ? NULL : unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, user, NULL);
    pthread_create(&second, NULL, user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
