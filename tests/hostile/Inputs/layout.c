/* Linked to lie where it must not; says what the process sees of a second start. With a number: maps a page there. */
#include "order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>

static int counter;

static void *writer(void *arg)
{
    counter = 7;
    step_done(0);
    return arg;
}

static void map_at(const char *where)
{
    void *at = (void *)strtoul(where, NULL, 16);
    char *page = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    puts(page == MAP_FAILED ? "refused" : "mapped");
    if (page != MAP_FAILED)
        page[7] = 1;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct rlimit stack;
    if (pthread_create(&t, NULL, writer, NULL) != 0)
        return 3;
    wait_step(0);
    if (argc > 1 && strcmp(argv[1], "racy") == 0)
        counter++;
    if (argc > 2)
        map_at(argv[2]);
    pthread_join(t, NULL);
    getrlimit(RLIMIT_STACK, &stack);
    printf("randomised %d, stack %s, mark %s, called %s\n", !(personality(0xffffffff) & ADDR_NO_RANDOMIZE),
           stack.rlim_cur == RLIM_INFINITY ? "unlimited" : "limited", getenv("DEADHEAT_RESTARTED") ? "there" : "gone",
           argv[0]);
    return 0;
}
