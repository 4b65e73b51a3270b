/* A small elevator simulator: lifts take calls under the calls' lock and show every floor they pass on a common display
 * under the shaft's lock. Halfway through its trips a lift is serviced, which is counted under the service lock; a lift
 * that takes a call looks at the count, under the calls' lock, and runs faster once all have been serviced.
 * The display's lock orders count and look, unless they fall between two floors. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct call {
    int from, to;
};

struct lift {
    pthread_t thread;
    int id;
    int at;
    int trips;
    unsigned motor;
};

static int n_lifts = 2;
static int n_floors = 40;
static int n_calls = 200;
static struct call *calls;

static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_call;

static pthread_mutex_t shaft_lock = PTHREAD_MUTEX_INITIALIZER;
static int *display; /* floor of every lift */
static long floors_passed;
static long people_moved; /* in floors */

static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;
static int serviced;

/* ---- calls ---- */

static bool take_call(struct call *c, bool *fast)
{
    pthread_mutex_lock(&call_lock);
    bool found = next_call < n_calls;
    if (found) {
        *c = calls[next_call++];
#ifdef FIXED
        pthread_mutex_lock(&service_lock);
#endif
        *fast = serviced == n_lifts;
#ifdef FIXED
        pthread_mutex_unlock(&service_lock);
#endif
    }
    pthread_mutex_unlock(&call_lock);
    return found;
}

/* ---- lifts ---- */

static void show_floor(struct lift *l, bool occupied)
{
    pthread_mutex_lock(&shaft_lock);
    display[l->id] = l->at;
    floors_passed++;
    if (occupied)
        people_moved++;
    pthread_mutex_unlock(&shaft_lock);
}

static void turn_motor(struct lift *l, bool fast)
{
    for (int i = 0; i < (fast ? 1000 : 1200); i++)
        l->motor = (l->motor ^ (l->motor >> 7)) * 1664525u + 1013904223u;
}

static void ride(struct lift *l, int to, bool occupied, bool fast)
{
    while (l->at != to) {
        l->at += l->at < to ? 1 : -1;
        show_floor(l, occupied);
        turn_motor(l, fast);
    }
    show_floor(l, false); /* the doors open */
}

static void service(void)
{
    pthread_mutex_lock(&service_lock);
    serviced++;
    pthread_mutex_unlock(&service_lock);
}

static void *lift(void *arg)
{
    struct lift *l = arg;
    struct call c;
    bool fast;
    while (take_call(&c, &fast)) {
        ride(l, c.from, false, fast);
        ride(l, c.to, true, fast);
        if (++l->trips == n_calls / (2 * n_lifts))
            service();
    }
    return NULL;
}

/* ---- building ---- */

static unsigned random_floor(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % (unsigned)n_floors;
}

static long make_calls(void)
{
    unsigned seed = 3;
    long way = 0;
    calls = calloc((size_t)n_calls, sizeof *calls);
    for (int i = 0; i < n_calls; i++) {
        calls[i].from = (int)random_floor(&seed);
        calls[i].to = (int)random_floor(&seed);
        way += labs((long)calls[i].to - calls[i].from);
    }
    return way;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t lifts] [-n calls] [-f floors]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:f:h")) != -1) {
        if (c == 't')
            n_lifts = atoi(optarg);
        else if (c == 'n')
            n_calls = atoi(optarg);
        else if (c == 'f')
            n_floors = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_lifts < 1 || n_calls < 0 || n_floors < 1)
        return usage(argv[0], 2);

    long way = make_calls();
    struct lift *lifts = calloc((size_t)n_lifts, sizeof *lifts);
    display = calloc((size_t)n_lifts, sizeof *display);
    for (int i = 0; i < n_lifts; i++) {
        lifts[i].id = i;
        pthread_create(&lifts[i].thread, NULL, lift, &lifts[i]);
    }
    int trips = 0, result = 0;
    for (int i = 0; i < n_lifts; i++) {
        pthread_join(lifts[i].thread, NULL);
        trips += lifts[i].trips;
    }
    if (people_moved != way || trips != n_calls) {
        printf("FAILED: people moved %ld floors, called for %ld\n", people_moved, way);
        result = 1;
    } else {
        printf("%ld floors passed\nok\n", floors_passed);
    }
    free(display);
    free(lifts);
    free(calls);
    return result;
}
