/* Double-checked locking after Flanagan and Freund, Figure 2.
 * The first caller of point_get creates the one Point under the lock; later callers take the pointer without it.
 * A stale NULL only sends a caller through the lock, so the race on `p` does no harm. But a caller that finds the
 * pointer without the lock has no happens-before edge to the constructor and may read the zeroes that x and y held
 * before it ran: slope() then divides by zero or returns zero. Each round starts with no Point and asks all threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_CALLERS 64

struct point {
    double x, y;
};

struct caller {
    pthread_t thread;
    long calls, wrong;
};

#ifdef FIXED
static _Atomic(struct point *) p;
#else
static struct point *p;
#endif
static pthread_mutex_t point_class = PTHREAD_MUTEX_INITIALIZER;

static struct point *point_new(void)
{
    struct point *created = calloc(1, sizeof *created); /* fields are zero before the constructor, as in Java */
    if (!created)
        exit(2);
    created->x = 1.0;
    created->y = 1.0;
    return created;
}

static struct point *point_get(void)
{
    struct point *t = p;
    if (t)
        return t;
    pthread_mutex_lock(&point_class);
    if (!p)
        p = point_new();
    t = p;
    pthread_mutex_unlock(&point_class);
    return t;
}

static double slope(void)
{
    double rise = point_get()->y;
    double run = point_get()->x;
    return rise / run;
}

static void *caller_run(void *arg)
{
    struct caller *me = arg;
    for (long i = 0; i < me->calls; i++)
        me->wrong += slope() != 1.0;
    return NULL;
}

/* The program as printed, with more than two threads if wished; returns the number of wrong slopes. */
static long run_once(int callers, long calls)
{
    struct caller crowd[MAX_CALLERS];
    long wrong = 0;
    p = NULL;
    for (int c = 0; c < callers; c++) {
        crowd[c] = (struct caller){.calls = calls};
        if (pthread_create(&crowd[c].thread, NULL, caller_run, &crowd[c]))
            exit(2);
    }
    for (int c = 0; c < callers; c++) {
        pthread_join(crowd[c].thread, NULL);
        wrong += crowd[c].wrong;
    }
    free(p);
    return wrong;
}

int main(int argc, char **argv)
{
    int callers = 2, option;
    long rounds = 50, calls = 10, wrong = 0;
    while ((option = getopt(argc, argv, "t:n:s:h")) != -1) {
        if (option == 't')
            callers = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else if (option == 's')
            calls = atol(optarg);
        else {
            printf("usage: dcl [-t callers (1..%d)] [-n points] [-s calls per caller and point]\n", MAX_CALLERS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (callers < 1 || callers > MAX_CALLERS || rounds < 0 || calls < 1)
        return fprintf(stderr, "dcl: bad number of callers, points or calls\n"), 2;
    for (long r = 0; r < rounds; r++)
        wrong += run_once(callers, calls);
    if (wrong)
        printf("FAILED: %ld slopes were not 1\n", wrong);
    else
        printf("ok\n");
    return wrong != 0;
}
