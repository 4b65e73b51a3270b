/* The eight examples of view consistency: two or three threads move one point, each through its own set of
 * synchronised methods. Every coordinate is always accessed under the point's lock, so no example has a data race; in
 * examples 2, 3, 5 and 8 one thread moves coordinates apart that another one moves together.
 * Every access is a read and a write, because the tables of the paper do not tell them apart. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coord {
    pthread_mutex_t lock;
    long x, y, z;
};

/* ---- synchronised methods: the name tells the view ---- */

static void move_x(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->x++;
    pthread_mutex_unlock(&c->lock);
}

static void move_y(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->y++;
    pthread_mutex_unlock(&c->lock);
}

static void move_z(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->z++;
    pthread_mutex_unlock(&c->lock);
}

static void move_xy(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->x++;
    c->y++;
    pthread_mutex_unlock(&c->lock);
}

static void move_yz(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->y++;
    c->z++;
    pthread_mutex_unlock(&c->lock);
}

static void move_zx(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->z++;
    c->x++;
    pthread_mutex_unlock(&c->lock);
}

static void move_xyz(struct coord *c)
{
    pthread_mutex_lock(&c->lock);
    c->x++;
    c->y++;
    c->z++;
    pthread_mutex_unlock(&c->lock);
}

/* ---- the examples: V(t) of every thread, as in Tables 1 and 2 ---- */

enum { MAX_THREADS = 3, MAX_VIEWS = 3 };
typedef void view(struct coord *);

#ifdef FIXED
#define APART_XY {move_y} /* which makes example 5 example 6, as in the paper */
#define THIRD_OF_8 move_y /* which makes it example 7 */
#else
#define APART_XY {move_x, move_y}
#define THIRD_OF_8 move_yz
#endif

static view *const examples[][MAX_THREADS][MAX_VIEWS] = {
    {{move_x, move_y}, {move_x, move_y}},
    {{move_xy}, APART_XY},
    {{move_xy, move_x, move_y}, APART_XY},
    {{move_xyz}, {move_xy, move_x}},
    {{move_xy}, {move_x}, APART_XY},
    {{move_xy}, {move_x}, {move_y}},
    {{move_xy, move_x, move_y}, {move_yz, move_y, move_z}, {move_zx, move_z, move_x}},
    {{move_xy, move_x, THIRD_OF_8}, {move_yz, move_y, move_z}, {move_zx, move_z, move_x}},
};
enum { N_EXAMPLES = sizeof examples / sizeof *examples };

struct user {
    pthread_t thread;
    view *const *views;
    struct coord *shared;
};

static long rounds = 1000;

static void use(struct coord *c, view *const *views)
{
    for (int v = 0; v < MAX_VIEWS && views[v]; v++)
        views[v](c);
}

static void *user(void *arg)
{
    struct user *u = arg;
    for (long i = 0; i < rounds; i++)
        use(u->shared, u->views);
    return NULL;
}

/* How far one round of all threads moves the point: played alone, on a point of its own. */
static void play_alone(struct coord *c, view *const views[MAX_THREADS][MAX_VIEWS])
{
    for (int t = 0; t < MAX_THREADS; t++)
        use(c, views[t]);
}

static int check(const struct coord *c, const struct coord *one_round)
{
    if (c->x == rounds * one_round->x && c->y == rounds * one_round->y && c->z == rounds * one_round->z) {
        puts("ok");
        return 0;
    }
    printf("FAILED: the point is at (%ld, %ld, %ld)\n", c->x, c->y, c->z);
    return 1;
}

static int run(view *const views[MAX_THREADS][MAX_VIEWS])
{
    struct coord shared = {.lock = PTHREAD_MUTEX_INITIALIZER}, alone = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct user users[MAX_THREADS];
    int n = 0;
    while (n < MAX_THREADS && views[n][0]) {
        users[n] = (struct user){.views = views[n], .shared = &shared};
        pthread_create(&users[n].thread, NULL, user, &users[n]);
        n++;
    }
    for (int t = 0; t < n; t++)
        pthread_join(users[t].thread, NULL);
    play_alone(&alone, views);
    return check(&shared, &alone);
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [--variant=1..%d] [-n rounds]   (the example fixes the threads)\n", prog,
            N_EXAMPLES);
    return code;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"variant", required_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
    int example = 2, c;
    while ((c = getopt_long(argc, argv, "v:n:h", options, NULL)) != -1) {
        if (c == 'v')
            example = atoi(optarg);
        else if (c == 'n')
            rounds = atol(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (example < 1 || example > N_EXAMPLES)
        return usage(argv[0], 2);
    return run(examples[example - 1]);
}
