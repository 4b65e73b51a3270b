/* Racy initialisation after Flanagan and Freund, Figures 1 and 8.
 * One thread creates the circle, the others check `x != NULL` and draw it, once (fig1) or ten times (fig8). In every
 * interleaving of a sequentially consistent machine that is right, for x never goes back to NULL. But the two reads
 * of x are independent: the check may see the circle and the call the old NULL. The circle's radius is published by
 * the same race, so a drawer may also see the 0 that was there before the constructor ran. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define CANVAS 64
#define RADIUS 20

struct circle {
    int radius;
};

struct drawer {
    pthread_t thread;
    int times;
    long wrong;
    unsigned char canvas[CANVAS][CANVAS];
};

#ifdef FIXED
static _Atomic(struct circle *) x;
#else
static struct circle *x;
#endif

static struct circle *circle_new(int radius)
{
    struct circle *created = calloc(1, sizeof *created); /* fields are zero before the constructor, as in Java */
    if (!created)
        exit(2);
    created->radius = radius;
    return created;
}

/* Sets the eight points that mirror (dx, dy) around the middle; returns how many were not set before. */
static int plot(unsigned char canvas[CANVAS][CANVAS], int dx, int dy)
{
    const int middle = CANVAS / 2;
    int fresh = 0;
    for (int mirror = 0; mirror < 8; mirror++) {
        int u = mirror & 4 ? dy : dx, v = mirror & 4 ? dx : dy;
        unsigned char *pixel = &canvas[middle + (mirror & 1 ? -u : u)][middle + (mirror & 2 ? -v : v)];
        fresh += !*pixel;
        *pixel = 1;
    }
    return fresh;
}

static int plot_circle(unsigned char canvas[CANVAS][CANVAS], int radius)
{
    int pixels = 0, error = 1 - radius;
    memset(canvas, 0, CANVAS * CANVAS);
    for (int dx = 0, dy = radius; dx <= dy; dx++) {
        pixels += plot(canvas, dx, dy);
        if (error >= 0)
            error -= 2 * --dy;
        error += 2 * dx + 3;
    }
    return pixels;
}

static int circle_draw(struct circle *c, unsigned char canvas[CANVAS][CANVAS])
{
    return plot_circle(canvas, c->radius);
}

static void *creator_run(void *arg)
{
    (void)arg;
    x = circle_new(RADIUS);
    return NULL;
}

static void *drawer_run(void *arg)
{
    struct drawer *me = arg;
    for (int i = 0; i < me->times; i++) {
        if (x != NULL) {
            int pixels = circle_draw(x, me->canvas);
            me->wrong += pixels != plot_circle(me->canvas, RADIUS);
        }
    }
    return NULL;
}

static long run_once(struct drawer *drawers, int count, int times)
{
    pthread_t creator;
    long wrong = 0;
    x = NULL;
    if (pthread_create(&creator, NULL, creator_run, NULL))
        exit(2);
    for (int d = 0; d < count; d++) {
        drawers[d].times = times;
        if (pthread_create(&drawers[d].thread, NULL, drawer_run, &drawers[d]))
            exit(2);
    }
    pthread_join(creator, NULL);
    for (int d = 0; d < count; d++) {
        pthread_join(drawers[d].thread, NULL);
        wrong += drawers[d].wrong;
        drawers[d].wrong = 0;
    }
    free(x);
    return wrong;
}

static int usage(int status)
{
    printf("usage: racyinit [--variant=fig1|fig8] [-t threads (2..%d)] [-n circles]\n", MAX_THREADS);
    return status;
}

static int times_of(const char *variant)
{
    return !strcmp(variant, "fig1") ? 1 : !strcmp(variant, "fig8") ? 10 : 0;
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"variant", required_argument, NULL, 'v'}, {0}};
    int threads = 2, times = 10, option;
    long rounds = 50, wrong = 0;
    while ((option = getopt_long(argc, argv, "t:n:h", long_options, NULL)) != -1) {
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else if (option == 'v')
            times = times_of(optarg);
        else
            return usage(option == 'h' ? 0 : 2);
    }
    if (threads < 2 || threads > MAX_THREADS || rounds < 0 || !times)
        return usage(2);
    struct drawer *drawers = calloc((size_t)threads - 1, sizeof *drawers);
    if (!drawers)
        return 2;
    for (long r = 0; r < rounds; r++)
        wrong += run_once(drawers, threads - 1, times);
    free(drawers);
    if (wrong)
        printf("FAILED: %ld circles were drawn wrong\n", wrong);
    else
        printf("ok\n");
    return wrong != 0;
}
