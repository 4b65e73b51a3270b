/* Two threads, one after the other in an order that no detector sees; `broken` leaves out, or does wrong, the one thing
 * that an annotation is about. Each source has a table of cases with what a report of the broken one must say. */
#ifndef CASE_H
#define CASE_H

#include "invisible.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
    const char *name;
    const char *expected; /* extended regular expression, of one line of the report */
    void (*prepare)(void), (*first)(void), (*second)(void);
};

static int broken;
static int shared;
static const struct test *chosen;

static void nothing(void)
{
}

static void *first_thread(void *unused)
{
    (void)unused;
    chosen->first();
    invisible_say(14);
    invisible_await(15); /* lives on while the second acts */
    return NULL;
}

static void *second_thread(void *unused)
{
    (void)unused;
    invisible_await(14);
    chosen->second();
    invisible_say(15);
    return NULL;
}

static int run_case(const struct test *t)
{
    pthread_t threads[2];
    chosen = t;
    t->prepare();
    pthread_create(&threads[0], NULL, first_thread, NULL);
    pthread_create(&threads[1], NULL, second_thread, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}

static int run_cases(const struct test *all, size_t n, int argc, char **argv)
{
    broken = argc > 2 && strcmp(argv[2], "broken") == 0;
    for (size_t i = 0; i < n; i++)
        if (argc < 2)
            printf("%s\t%s\n", all[i].name, all[i].expected);
        else if (strcmp(all[i].name, argv[1]) == 0)
            return run_case(&all[i]);
    return argc < 2 ? 0 : 2;
}

#define CASES(all)                                                                                                     \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return run_cases(all, sizeof all / sizeof *all, argc, argv);                                                   \
    }

#define RACE "WARNING: deadheat: data race on shared"

#endif
