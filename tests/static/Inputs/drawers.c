/* Two drawers, each with its own clerk. main once looks into either, so that for an analysis that unites what one
 * pointer may mean both are one. -DBROKEN_DATA: the second clerk uses the drawer that was looked into. -DBROKEN_CALL:
 * the clerk of errands runs what was picked. */
#include <pthread.h>
#include <stdlib.h>

struct drawer {
    long coins;
};

static struct drawer *left, *right, *seen;
static long walked, rested;

struct errand {
    void (*run)(void);
};

static void walk(void)
{
    walked++;
}

static void rest(void)
{
    rested++;
}

static struct errand walking = {walk}, resting = {rest}, *first, *second;

static void *left_clerk(void *unused)
{
    left->coins++;
    first->run();
    return unused;
}

static void *right_clerk(void *unused)
{
#ifdef BROKEN_DATA
    seen->coins++;
#else
    right->coins++;
#endif
    second->run();
    return unused;
}

int main(int argc, char **argv)
{
    (void)argv;
    left = calloc(1, sizeof *left);
    right = calloc(1, sizeof *right);
    seen = argc > 1 ? left : right;
    long before = seen->coins;
    struct errand *picked = argc > 1 ? &walking : &resting;
    picked->run();
    first = &walking;
#ifdef BROKEN_CALL
    second = picked;
#else
    second = &resting;
#endif
    pthread_t a, b;
    pthread_create(&a, NULL, left_clerk, NULL);
    pthread_create(&b, NULL, right_clerk, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return before + left->coins + right->coins + walked + rested == 0;
}
