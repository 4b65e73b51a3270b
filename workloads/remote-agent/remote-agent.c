/* The Remote Agent's executive: a task locks a property in the lock table, achieves it on the space craft, and then
 * sets the flag `achieved`. A daemon, woken by unexpected events, checks that what is marked achieved still holds.
 * Value and flag are written in two synchronised blocks, but checked in one: a property that breaks between achieving
 * it and setting the flag is passed over by the daemon, and the task goes on with a property that does not hold. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNLOCKED, OFF, ON };

/* One line of the lock table: which value the owner needs, and whether it has been achieved. */
struct property {
    int value;
    bool achieved;
};

struct events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long count;   /* unexpected events so far */
    long checked; /* of which the daemon has looked at */
    bool over;
};

struct task {
    pthread_t thread;
    int id;
    unsigned effort;
    long violations, missed;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct property *table;
static _Atomic int *sensors; /* the system state, one sensor per property */
static atomic_bool *interrupted;
static struct events events = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static atomic_bool mission_over;
static int n_tasks = 2;
static int rounds = 200;

static unsigned work(unsigned state, int steps)
{
    for (int i = 0; i < steps; i++)
        state = (state ^ (state >> 7)) * 1664525u + 1013904223u;
    return state;
}

/* ---- daemon ---- */

static bool wait_for_event(long *seen)
{
    pthread_mutex_lock(&events.lock);
    while (events.checked == events.count && !events.over)
        pthread_cond_wait(&events.changed, &events.lock);
    *seen = events.count;
    bool more = events.checked != events.count;
    pthread_mutex_unlock(&events.lock);
    return more;
}

static void report_checked(long seen)
{
    pthread_mutex_lock(&events.lock);
    events.checked = seen;
    pthread_cond_broadcast(&events.changed);
    pthread_mutex_unlock(&events.lock);
}

static void check_lock_table(void)
{
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < n_tasks; i++) {
        struct property *p = &table[i];
        if (p->value != UNLOCKED && p->achieved && p->value != atomic_load(&sensors[i]))
            atomic_store(&interrupted[i], true);
    }
    pthread_mutex_unlock(&table_lock);
}

static void *daemon_thread(void *unused)
{
    long seen;
    (void)unused;
    while (wait_for_event(&seen)) {
        check_lock_table();
        report_checked(seen);
    }
    return NULL;
}

/* ---- space: breaks properties that hold ---- */

static void strike(int id)
{
    int held = ON;
    pthread_mutex_lock(&events.lock);
    if (atomic_compare_exchange_strong(&sensors[id], &held, OFF)) {
        events.count++;
        pthread_cond_broadcast(&events.changed);
    }
    pthread_mutex_unlock(&events.lock);
}

static void *space(void *unused)
{
    unsigned ray = 99;
    (void)unused;
    while (!atomic_load(&mission_over)) {
        ray = work(ray, 5000);
        strike((int)((ray >> 8) % (unsigned)n_tasks));
    }
    return NULL;
}

/* ---- tasks ---- */

static void achieve(struct task *t)
{
    t->effort = work(t->effort, 500);
    atomic_store(&sensors[t->id], ON);
}

static void lock_and_achieve(struct task *t)
{
    struct property *p = &table[t->id];
    pthread_mutex_lock(&table_lock);
    p->value = ON;
#ifndef FIXED
    pthread_mutex_unlock(&table_lock); /* achieving takes long, so others may use the table */
#endif
    achieve(t);
#ifndef FIXED
    pthread_mutex_lock(&table_lock);
#endif
    p->achieved = true;
    pthread_mutex_unlock(&table_lock);
}

static void release(struct task *t)
{
    struct property *p = &table[t->id];
    pthread_mutex_lock(&table_lock);
    p->value = UNLOCKED;
    p->achieved = false;
    pthread_mutex_unlock(&table_lock);
    atomic_store(&sensors[t->id], OFF);
}

/* Says whether the property broke, once the daemon has looked at everything that happened up to now. */
static bool property_broke(struct task *t)
{
    pthread_mutex_lock(&events.lock);
    bool broke = atomic_load(&sensors[t->id]) != ON;
    long happened = events.count;
    while (events.checked < happened)
        pthread_cond_wait(&events.changed, &events.lock);
    pthread_mutex_unlock(&events.lock);
    return broke;
}

static void *task(void *arg)
{
    struct task *t = arg;
    for (int i = 0; i < rounds; i++) {
        lock_and_achieve(t);
        t->effort = work(t->effort, 10000);
        if (property_broke(t)) {
            t->violations++;
            if (!atomic_load(&interrupted[t->id]))
                t->missed++;
        }
        release(t);
        atomic_store(&interrupted[t->id], false);
    }
    return NULL;
}

/* ---- mission ---- */

static void end_mission(void)
{
    atomic_store(&mission_over, true);
    pthread_mutex_lock(&events.lock);
    events.over = true;
    pthread_cond_broadcast(&events.changed);
    pthread_mutex_unlock(&events.lock);
}

static int check(const struct task *tasks)
{
    long violations = 0, missed = 0;
    for (int i = 0; i < n_tasks; i++) {
        violations += tasks[i].violations;
        missed += tasks[i].missed;
    }
    printf("%ld violations\n", violations);
    if (missed) {
        printf("FAILED: the daemon missed %ld of them\n", missed);
        return 1;
    }
    puts("ok");
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t tasks] [-n rounds]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            n_tasks = atoi(optarg);
        else if (c == 'n')
            rounds = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_tasks < 1 || rounds < 0)
        return usage(argv[0], 2);

    pthread_t daemon_id, space_id;
    struct task *tasks = calloc((size_t)n_tasks, sizeof *tasks);
    table = calloc((size_t)n_tasks, sizeof *table);
    sensors = calloc((size_t)n_tasks, sizeof *sensors);
    interrupted = calloc((size_t)n_tasks, sizeof *interrupted);
    pthread_create(&daemon_id, NULL, daemon_thread, NULL);
    pthread_create(&space_id, NULL, space, NULL);
    for (int i = 0; i < n_tasks; i++) {
        tasks[i] = (struct task){.id = i, .effort = 1u + (unsigned)i};
        pthread_create(&tasks[i].thread, NULL, task, &tasks[i]);
    }
    for (int i = 0; i < n_tasks; i++)
        pthread_join(tasks[i].thread, NULL);
    end_mission();
    pthread_join(space_id, NULL);
    pthread_join(daemon_id, NULL);
    int result = check(tasks);
    free(tasks);
    free(table);
    free(sensors);
    free(interrupted);
    return result;
}
