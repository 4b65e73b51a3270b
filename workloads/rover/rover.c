/* A planetary rover: the executive drives and reports pose and power, each in its own synchronised block; the planner
 * reads all six fields in one block, to lock once instead of twice. The views do not fit together ({x, y, heading} and
 * {battery, current, temperature} against all six), yet nothing depends on pose and power being of the same moment.
 * -t counts threads: every two of them are the planner and the executive of one rover. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GRID = 64, HEADINGS = 32, LOOKAHEAD = 48 };
enum command_kind { DRIVE, RECHARGE, STOP };
enum box_state { IDLE, POSTED, RUNNING };

struct pose {
    double x, y, heading;
};

struct power {
    double battery, current, temperature;
};

struct status {
    pthread_mutex_t lock;
    double x, y, heading;
    double battery, current, temperature;
};

struct command {
    enum command_kind kind;
    double heading, distance;
};

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum box_state state;
    struct command command;
};

struct rover {
    pthread_t planner, executive;
    struct status status;
    struct mailbox box;
    unsigned seed;
    double worst_temperature, roughness_seen; /* the planner's own notes */
};

static int legs = 20;
static double terrain[GRID][GRID];

/* ---- status ---- */

static void report_pose(struct status *s, const struct pose *p)
{
    pthread_mutex_lock(&s->lock);
    s->x = p->x;
    s->y = p->y;
    s->heading = p->heading;
    pthread_mutex_unlock(&s->lock);
}

static void report_power(struct status *s, const struct power *p)
{
    pthread_mutex_lock(&s->lock);
    s->battery = p->battery;
    s->current = p->current;
    s->temperature = p->temperature;
    pthread_mutex_unlock(&s->lock);
}

static void read_status(struct status *s, struct pose *pose, struct power *power)
{
    pthread_mutex_lock(&s->lock);
    pose->x = s->x;
    pose->y = s->y;
    pose->heading = s->heading;
#ifdef FIXED
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->lock);
#endif
    power->battery = s->battery;
    power->current = s->current;
    power->temperature = s->temperature;
    pthread_mutex_unlock(&s->lock);
}

/* ---- mailbox ---- */

static void post(struct mailbox *b, const struct command *c)
{
    pthread_mutex_lock(&b->lock);
    b->state = POSTED;
    b->command = *c;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static struct command take(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->state != POSTED)
        pthread_cond_wait(&b->changed, &b->lock);
    b->state = RUNNING;
    struct command c = b->command;
    pthread_mutex_unlock(&b->lock);
    return c;
}

static void report_done(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    b->state = IDLE;
    pthread_mutex_unlock(&b->lock);
}

static bool is_busy(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    bool busy = b->state != IDLE;
    pthread_mutex_unlock(&b->lock);
    return busy;
}

/* ---- executive: the wheels ---- */

static void drive_step(struct pose *pose, struct power *power, double heading, double distance)
{
    pose->heading = heading;
    pose->x = fmod(pose->x + distance * cos(heading) + GRID, GRID);
    pose->y = fmod(pose->y + distance * sin(heading) + GRID, GRID);
    power->current = 1.0 + terrain[(int)pose->y % GRID][(int)pose->x % GRID];
    power->battery -= power->current * distance;
    power->temperature = 0.9 * power->temperature + power->current;
}

static void execute(const struct command *c, struct pose *pose, struct power *power, struct status *report)
{
    if (c->kind == RECHARGE) {
        *power = (struct power){.battery = 100.0};
        if (report)
            report_power(report, power);
        return;
    }
    for (double done = 0; done < c->distance; done += 0.01) {
        drive_step(pose, power, c->heading, 0.01);
        if (report) {
            report_pose(report, pose);
            report_power(report, power);
        }
    }
}

static void *executive(void *arg)
{
    struct rover *r = arg;
    struct pose pose = {GRID / 2, GRID / 2, 0};
    struct power power = {.battery = 100.0};
    for (;;) {
        struct command c = take(&r->box);
        if (c.kind == STOP)
            return NULL;
        execute(&c, &pose, &power, &r->status);
        report_done(&r->box);
    }
}

/* ---- planner ---- */

static double roughness(double x, double y, double heading)
{
    double sum = 0;
    for (int i = 0; i < LOOKAHEAD; i++) {
        x = fmod(x + 0.25 * cos(heading) + GRID, GRID);
        y = fmod(y + 0.25 * sin(heading) + GRID, GRID);
        sum += terrain[(int)y % GRID][(int)x % GRID];
    }
    return sum;
}

/* The smoothest heading; the distance is drawn, so that a rover does not stay in one valley. */
static struct command plan_leg(const struct pose *pose, const struct power *power, unsigned *seed)
{
    if (power->battery < 40.0)
        return (struct command){.kind = RECHARGE};
    struct command best = {.kind = DRIVE};
    double least = INFINITY;
    for (int i = 0; i < HEADINGS; i++) {
        double heading = 2 * M_PI * i / HEADINGS, rough = roughness(pose->x, pose->y, heading);
        if (rough < least) {
            least = rough;
            best.heading = heading;
        }
    }
    *seed = *seed * 1664525u + 1013904223u;
    best.distance = 4.0 + (*seed >> 8) % 8;
    return best;
}

/* While the rover moves, the planner only takes notes: plans are made at rest, so they do not depend on timing. */
static void watch(struct rover *r)
{
    struct pose pose;
    struct power power;
    while (is_busy(&r->box)) {
        read_status(&r->status, &pose, &power);
        r->worst_temperature = fmax(r->worst_temperature, power.temperature);
        r->roughness_seen = fmax(r->roughness_seen, roughness(pose.x, pose.y, pose.heading));
    }
}

static void *planner(void *arg)
{
    struct rover *r = arg;
    struct pose pose;
    struct power power;
    for (int leg = 0; leg < legs; leg++) {
        read_status(&r->status, &pose, &power);
        struct command c = plan_leg(&pose, &power, &r->seed);
        post(&r->box, &c);
        watch(r);
    }
    post(&r->box, &(struct command){.kind = STOP});
    return NULL;
}

/* ---- mission ---- */

static void build_terrain(void)
{
    unsigned seed = 5;
    for (int y = 0; y < GRID; y++) {
        for (int x = 0; x < GRID; x++) {
            seed = seed * 1664525u + 1013904223u;
            terrain[y][x] = (seed >> 8) % 100 / 50.0;
        }
    }
}

static void launch(struct rover *r, unsigned seed)
{
    *r = (struct rover){
        .seed = seed, .status = {.x = GRID / 2, .y = GRID / 2, .battery = 100.0}, .worst_temperature = 0};
    pthread_mutex_init(&r->status.lock, NULL);
    pthread_mutex_init(&r->box.lock, NULL);
    pthread_cond_init(&r->box.changed, NULL);
    pthread_create(&r->executive, NULL, executive, r);
    pthread_create(&r->planner, NULL, planner, r);
}

/* The same legs again, planned and driven by one thread. */
static bool arrived(const struct rover *r, unsigned seed)
{
    struct pose pose = {GRID / 2, GRID / 2, 0};
    struct power power = {.battery = 100.0};
    for (int leg = 0; leg < legs; leg++) {
        struct command c = plan_leg(&pose, &power, &seed);
        execute(&c, &pose, &power, NULL);
    }
    return r->status.x == pose.x && r->status.y == pose.y && r->status.battery == power.battery;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t threads, two a rover] [-n legs]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int threads = 2, c;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            threads = atoi(optarg);
        else if (c == 'n')
            legs = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    int n = threads / 2, lost = 0;
    if (n < 1 || legs < 0)
        return usage(argv[0], 2);

    build_terrain();
    struct rover *rovers = calloc((size_t)n, sizeof *rovers);
    for (int i = 0; i < n; i++)
        launch(&rovers[i], 1u + (unsigned)i);
    for (int i = 0; i < n; i++) {
        pthread_join(rovers[i].planner, NULL);
        pthread_join(rovers[i].executive, NULL);
        if (!arrived(&rovers[i], 1u + (unsigned)i))
            lost++;
    }
    free(rovers);
    if (lost) {
        printf("FAILED: %d rovers are not where the plan led\n", lost);
        return 1;
    }
    puts("ok");
    return 0;
}
