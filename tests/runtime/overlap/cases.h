/* Cases: two threads access one object at the same moment. Run as `PROGRAM CASE racy|ok TIMES`; ok is the correct twin.
 * `PROGRAM` alone lists the cases. Ends with 1 when a repetition was silent, or the twin was not. */
#ifndef DH_TESTS_OVERLAP_CASES_H
#define DH_TESTS_OVERLAP_CASES_H

#include "invisible.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool safe; /* the twin */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
    meet();
    if (safe)
        pthread_mutex_lock(&guard);
}

static void end(void)
{
    if (safe)
        pthread_mutex_unlock(&guard);
}

struct overlap {
    const char *name;
    void (*prepare)(void), (*left)(void), (*right)(void), (*finish)(void);
};

static const struct overlap *chosen;

static void *run_left(void *unused)
{
    chosen->left();
    return unused;
}

static void *run_right(void *unused)
{
    chosen->right();
    return unused;
}

static bool one_time(bool counted)
{
    pthread_t left, right;
    meet_anew();
    forget_reports();
    if (chosen->prepare)
        chosen->prepare();
    if (pthread_create(&left, NULL, run_left, NULL) || pthread_create(&right, NULL, run_right, NULL))
        abort();
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    if (chosen->finish)
        chosen->finish();
    return !counted || (!reported_outside() && (safe ? !reported_inside() : reported_inside() > 0));
}

static int run_cases(int argc, char **argv, const struct overlap *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (argc < 4)
            puts(cases[i].name);
        else if (!strcmp(cases[i].name, argv[1]))
            chosen = &cases[i];
    }
    if (argc < 4)
        return 0;
    int times = atoi(argv[3]), silent = 0;
    safe = !strcmp(argv[2], "ok");
    if (!chosen)
        abort();
    for (int i = 0; i < times; i++)
        silent += !one_time(argc < 5); /* a fifth word: reports are not caught, the exit code will tell */
    if (silent)
        printf("%s %s: wrong in %d of %d (last: %u reports on it, %u on others)\n", argv[1], argv[2], silent, times,
               reported_inside(), reported_outside());
    return silent > 0;
}

#define CASES_MAIN(cases)                                                                                              \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        int result = run_cases(argc, argv, cases, sizeof cases / sizeof *cases);                                       \
        fflush(stdout);                                                                                                \
        return result;                                                                                                 \
    }

#endif
