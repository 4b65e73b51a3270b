/* A discrete event simulator of a building: an arrivals thread puts people on floors, lifts are threads that poll the
 * calls of all floors, claim one, fetch the people and bring them up or down. Every floor has its own lock.
 * There is nothing to find. The bait is in take_people(): when nobody waits, it leaves `waiting` alone, so that run
 * shows {people, claimed_by} where the function as written owns {people, claimed_by, waiting}. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOBODY = -1 };

struct person {
    int from, to;
    int got_off_at;
    unsigned came_at;
    struct person *next;
};

/* People of one floor who want to go one way. */
struct call {
    int waiting;
    struct person *people;
    int claimed_by;
};

struct floor {
    pthread_mutex_t lock;
    struct call up, down;
};

/* Where idle lifts wait until somebody calls or the last person has arrived. */
struct board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long news;
    long travelling;
};

struct lift {
    pthread_t thread;
    int id;
    int at;
    struct person *aboard;
    unsigned motor;
};

static struct floor *floors;
static int n_floors = 12;
static int n_lifts = 4;
static struct board board = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static struct person *people;
static int n_people = 300;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static unsigned turn_motor(unsigned position, int steps)
{
    for (int i = 0; i < steps; i++)
        position = (position ^ (position >> 7)) * 1664525u + 1013904223u;
    return position;
}

/* ---- controls of one floor ---- */

static struct call *call_of(struct floor *f, int direction)
{
    return direction > 0 ? &f->up : &f->down;
}

/* Returns whether a lift is on its way already. */
static bool push_button(struct floor *f, struct person *p)
{
    struct call *c = call_of(f, p->to - p->from);
    pthread_mutex_lock(&f->lock);
    p->next = c->people;
    c->people = p;
    c->waiting++;
    bool lift_comes = c->claimed_by != NOBODY;
    pthread_mutex_unlock(&f->lock);
    return lift_comes;
}

static bool claim(struct floor *f, int direction, int lift)
{
    struct call *c = call_of(f, direction);
    bool mine = false;
    pthread_mutex_lock(&f->lock);
    if (c->claimed_by == NOBODY && c->waiting > 0) {
        c->claimed_by = lift;
        mine = true;
    }
    pthread_mutex_unlock(&f->lock);
    return mine;
}

static struct person *take_people(struct floor *f, int direction)
{
    struct call *c = call_of(f, direction);
    pthread_mutex_lock(&f->lock);
    struct person *taken = c->people;
    c->claimed_by = NOBODY;
    if (taken) {
        c->people = NULL;
        c->waiting = 0;
    }
    pthread_mutex_unlock(&f->lock);
    return taken;
}

/* ---- the board ---- */

static void board_ring(void)
{
    pthread_mutex_lock(&board.lock);
    board.news++;
    pthread_cond_broadcast(&board.changed);
    pthread_mutex_unlock(&board.lock);
}

/* -1: everybody has arrived. */
static long board_look(void)
{
    pthread_mutex_lock(&board.lock);
    long news = board.travelling > 0 ? board.news : -1;
    pthread_mutex_unlock(&board.lock);
    return news;
}

static void board_wait(long seen)
{
    pthread_mutex_lock(&board.lock);
    while (board.travelling > 0 && board.news == seen)
        pthread_cond_wait(&board.changed, &board.lock);
    pthread_mutex_unlock(&board.lock);
}

static void board_arrived(int count)
{
    pthread_mutex_lock(&board.lock);
    board.travelling -= count;
    if (board.travelling == 0)
        pthread_cond_broadcast(&board.changed);
    pthread_mutex_unlock(&board.lock);
}

/* ---- lifts ---- */

static void get_on(struct lift *l, int direction)
{
    struct person *p = take_people(&floors[l->at], direction);
    while (p) {
        struct person *next = p->next;
        p->next = l->aboard;
        l->aboard = p;
        p = next;
    }
}

static void get_off(struct lift *l)
{
    int count = 0;
    for (struct person **p = &l->aboard; *p;) {
        if ((*p)->to == l->at) {
            (*p)->got_off_at = l->at;
            *p = (*p)->next;
            count++;
        } else {
            p = &(*p)->next;
        }
    }
    if (count)
        board_arrived(count);
}

static void move(struct lift *l, int direction)
{
    l->motor = turn_motor(l->motor, 2000);
    l->at += direction;
}

/* Everybody aboard goes the same way, so the lift is empty at the last floor at the latest. */
static void serve(struct lift *l, int floor, int direction)
{
    while (l->at != floor)
        move(l, l->at < floor ? 1 : -1);
    get_on(l, direction);
    while (l->aboard) {
        move(l, direction);
        get_off(l);
        get_on(l, direction);
    }
}

static bool serve_some_call(struct lift *l)
{
    for (int i = 0; i < n_floors; i++) {
        int floor = (l->at + i) % n_floors;
        for (int direction = -1; direction <= 1; direction += 2) {
            if (claim(&floors[floor], direction, l->id)) {
                serve(l, floor, direction);
                return true;
            }
        }
    }
    return false;
}

static void *lift(void *arg)
{
    struct lift *l = arg;
    long seen;
    while ((seen = board_look()) >= 0) {
        if (!serve_some_call(l))
            board_wait(seen);
    }
    return NULL;
}

static void *arrivals(void *unused)
{
    unsigned clock = 1;
    (void)unused;
    for (int i = 0; i < n_people; i++) {
        clock = turn_motor(clock, 4000);
        people[i].came_at = clock;
        if (!push_button(&floors[people[i].from], &people[i]))
            board_ring();
    }
    return NULL;
}

/* ---- building ---- */

static void build(void)
{
    unsigned seed = 42;
    floors = calloc((size_t)n_floors, sizeof *floors);
    people = calloc((size_t)n_people, sizeof *people);
    for (int i = 0; i < n_floors; i++) {
        pthread_mutex_init(&floors[i].lock, NULL);
        floors[i].up.claimed_by = floors[i].down.claimed_by = NOBODY;
    }
    for (int i = 0; i < n_people; i++) {
        int from = (int)(next_random(&seed) % (unsigned)n_floors);
        int hop = 1 + (int)(next_random(&seed) % (unsigned)(n_floors - 1));
        people[i] = (struct person){.from = from, .to = (from + hop) % n_floors, .got_off_at = NOBODY};
    }
    board.travelling = n_people;
}

static int check(void)
{
    for (int i = 0; i < n_people; i++) {
        if (people[i].got_off_at != people[i].to) {
            printf("FAILED: person %d is on floor %d, not %d\n", i, people[i].got_off_at, people[i].to);
            return 1;
        }
    }
    puts("ok");
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t lifts] [-n people] [-f floors]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:f:h")) != -1) {
        if (c == 't')
            n_lifts = atoi(optarg);
        else if (c == 'n')
            n_people = atoi(optarg);
        else if (c == 'f')
            n_floors = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_lifts < 1 || n_people < 0 || n_floors < 2)
        return usage(argv[0], 2);

    pthread_t people_come;
    build();
    struct lift *lifts = calloc((size_t)n_lifts, sizeof *lifts);
    for (int i = 0; i < n_lifts; i++) {
        lifts[i] = (struct lift){.id = i, .motor = 1u + (unsigned)i};
        pthread_create(&lifts[i].thread, NULL, lift, &lifts[i]);
    }
    pthread_create(&people_come, NULL, arrivals, NULL);
    pthread_join(people_come, NULL);
    for (int i = 0; i < n_lifts; i++)
        pthread_join(lifts[i].thread, NULL);
    int result = check();
    free(lifts);
    free(people);
    free(floors);
    return result;
}
