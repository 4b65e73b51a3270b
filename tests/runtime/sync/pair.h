/* A program of cases: in each, a writer and a reader access `guarded`, ordered by what the case is about. Run as
 * `PROGRAM CASE ok`, and as `PROGRAM CASE broken`, in which the reader uses another object (o = 1) than the writer
 * (o = 0), or what else the case says, so that nothing orders them. `PROGRAM` alone lists the cases. */
#ifndef PAIR_H
#define PAIR_H

#include "invisible.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITTEN = 1, STEP = 2, STEP2 = 3, STEP3 = 4 }; /* steps; the cases use their own from STEP on */

enum { TOGETHER = 1 }; /* the reader does not wait until the writer is through */

struct pair {
    const char *name;
    void (*prepare)(void);
    void (*writer)(int o);
    void (*reader)(int o);
    int flags;
};

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _Exit(3);                                                                                                  \
        }                                                                                                              \
    } while (0)

int guarded;

static const struct pair *chosen;
static int broken;

static void *run_writer(void *unused)
{
    chosen->writer(0);
    invisible_say(WRITTEN);
    return unused;
}

static void *run_reader(void *unused)
{
    if (!(chosen->flags & TOGETHER))
        invisible_await(WRITTEN);
    chosen->reader(broken);
    return unused;
}

static void run_pair(void)
{
    pthread_t writer, reader;
    if (chosen->prepare)
        chosen->prepare();
    CHECK(pthread_create(&writer, NULL, run_writer, NULL) == 0);
    CHECK(pthread_create(&reader, NULL, run_reader, NULL) == 0);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(pthread_join(reader, NULL) == 0);
}

static int run_pairs(int argc, char **argv, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (argc < 3)
            puts(pairs[i].name);
        else if (strcmp(pairs[i].name, argv[1]) == 0)
            chosen = &pairs[i];
    }
    if (argc < 3)
        return 0;
    broken = strcmp(argv[2], "broken") == 0;
    CHECK(chosen);
    run_pair();
    return 0;
}

#define PAIRS_MAIN(pairs)                                                                                              \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return run_pairs(argc, argv, pairs, sizeof pairs / sizeof *pairs);                                             \
    }

#endif
