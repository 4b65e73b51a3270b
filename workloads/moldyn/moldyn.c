/* Molecular dynamics of argon-like particles in a periodic box, after moldyn of the Java Grande suite.
 *
 * Each mover owns a block of particles. One step: move the own block; barrier; compute Lennard-Jones forces of every
 * threads'th particle with all later ones into an array of forces of its own; barrier; add up all movers' forces for
 * the own block and finish the velocities; barrier; thread 0 adds up the energies and the number of interactions.
 * `interactions` is global and written without a lock, but only ever by thread 0, which no static analysis sees easily.
 *
 * Variant pthread meets at a pthread barrier. Variant tournament is the suite's own barrier: in each round half of
 * those left raise their flag and leave, the other half waits for its partner's flag; thread 0 raises its own for all.
 * Flags are turned over at every meeting. They are volatile, which orders nothing. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define BUSY_SPINS 2000 /* before giving the processor away, as the suite's barrier does */
#define DENSITY 0.83134
#define TEMPERATURE 0.722
#define TIME_STEP 0.002

#ifdef FIXED
#define FLAG _Atomic bool
#else
#define FLAG volatile bool
#endif

static struct {
    int threads, cells, steps;
    uint64_t seed;
    bool tournament;
} opt = {.threads = 2, .cells = 4, .steps = 5, .seed = 1989};

struct particle {
    double pos[3], vel[3], force[3];
};

/* What one mover found in the current step. */
struct partial {
    double potential;
    long pairs;
    double kinetic;
    char line[40];
};

static int n_particles;
static double box, cutoff2;
static struct particle *particles;
static double (*shares[MAX_THREADS])[3]; /* forces each mover found, on all particles */
static struct partial partials[MAX_THREADS];

static long interactions; /* over all steps; thread 0 only, as the three next lines */
static long last_pairs;
static double last_potential;
static double first_energy, worst_drift;

static pthread_barrier_t step_barrier;
static struct {
    FLAG done;
    char line[63];
} arrived[MAX_THREADS];

static void wait_until(int who, bool done)
{
    for (int spins = 1; arrived[who].done != done; spins++)
        if (spins % BUSY_SPINS == 0)
            sched_yield();
}

static void tournament(int id)
{
    bool done = !arrived[id].done;
    for (int step = 1; step < opt.threads && (id & step) == 0; step <<= 1)
        if (id + step < opt.threads)
            wait_until(id + step, done);
    arrived[id].done = done;
    if (id != 0)
        wait_until(0, done);
}

static void meet(int id)
{
    if (opt.tournament)
        tournament(id);
    else
        pthread_barrier_wait(&step_barrier);
}

static double random_signed(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* Face-centred cubic lattice: four particles per cell. */
static void place_particles(void)
{
    static const double corner[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
    double edge = box / opt.cells;
    struct particle *p = particles;
    for (int cell = 0; cell < opt.cells * opt.cells * opt.cells; cell++) {
        int at[3] = {cell % opt.cells, cell / opt.cells % opt.cells, cell / opt.cells / opt.cells};
        for (int c = 0; c < 4; c++, p++)
            for (int d = 0; d < 3; d++)
                p->pos[d] = (at[d] + corner[c][d] + 0.25) * edge;
    }
}

/* Random velocities of the wanted temperature without a drift of the whole. */
static void heat_particles(void)
{
    uint64_t state = opt.seed;
    double mean[3] = {0}, square = 0;
    for (int i = 0; i < n_particles; i++)
        for (int d = 0; d < 3; d++)
            mean[d] += particles[i].vel[d] = random_signed(&state);
    for (int i = 0; i < n_particles; i++)
        for (int d = 0; d < 3; d++) {
            particles[i].vel[d] -= mean[d] / n_particles;
            square += particles[i].vel[d] * particles[i].vel[d];
        }
    double scale = sqrt(3.0 * n_particles * TEMPERATURE / square);
    for (int i = 0; i < n_particles; i++)
        for (int d = 0; d < 3; d++)
            particles[i].vel[d] *= scale;
}

static double nearest(double distance)
{
    if (distance > 0.5 * box)
        return distance - box;
    return distance < -0.5 * box ? distance + box : distance;
}

/* Forces of particle i with all later ones, into `share`. */
static void interact(int i, double (*share)[3], struct partial *sum)
{
    double here[3], pull[3] = {0};
    memcpy(here, particles[i].pos, sizeof here);
    for (int j = i + 1; j < n_particles; j++) {
        const struct particle *q = &particles[j];
        double dx = nearest(here[0] - q->pos[0]), dy = nearest(here[1] - q->pos[1]), dz = nearest(here[2] - q->pos[2]);
        double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > cutoff2)
            continue;
        double inv2 = 1.0 / r2, inv6 = inv2 * inv2 * inv2, f = 48.0 * inv2 * inv6 * (inv6 - 0.5);
        double by[3] = {f * dx, f * dy, f * dz};
        for (int d = 0; d < 3; d++) {
            pull[d] += by[d];
            share[j][d] -= by[d];
        }
        sum->potential += 4.0 * inv6 * (inv6 - 1.0);
        sum->pairs++;
    }
    for (int d = 0; d < 3; d++)
        share[i][d] += pull[d];
}

static void find_forces(int id)
{
    struct partial sum = {0};
    double(*share)[3] = shares[id];
    memset(share, 0, (size_t)n_particles * sizeof *share);
    for (int i = id; i < n_particles; i += opt.threads)
        interact(i, share, &sum);
    partials[id].potential = sum.potential;
    partials[id].pairs = sum.pairs;
}

static void move_block(int low, int high)
{
    for (int i = low; i < high; i++)
        for (int d = 0; d < 3; d++) {
            struct particle *p = &particles[i];
            p->vel[d] += 0.5 * TIME_STEP * p->force[d];
            double pos = p->pos[d] + TIME_STEP * p->vel[d];
            p->pos[d] = pos < 0 ? pos + box : pos >= box ? pos - box : pos;
        }
}

static void add_forces(int i)
{
    for (int d = 0; d < 3; d++) {
        double force = 0;
        for (int id = 0; id < opt.threads; id++) {
            double(*share)[3] = shares[id];
            force += share[i][d];
        }
        particles[i].force[d] = force;
    }
}

static void finish_block(int id, int low, int high, double time_step)
{
    double square = 0;
    for (int i = low; i < high; i++) {
        add_forces(i);
        struct particle *p = &particles[i];
        for (int d = 0; d < 3; d++) {
            p->vel[d] += 0.5 * time_step * p->force[d];
            square += p->vel[d] * p->vel[d];
        }
    }
    partials[id].kinetic = 0.5 * square;
}

/* Thread 0 alone. */
static void account_step(int step)
{
    double potential = 0, kinetic = 0;
    long pairs = 0;
    for (int id = 0; id < opt.threads; id++) {
        potential += partials[id].potential;
        kinetic += partials[id].kinetic;
        pairs += partials[id].pairs;
    }
    interactions += pairs;
    last_pairs = pairs;
    last_potential = potential;
    if (step == 0)
        first_energy = potential + kinetic;
    worst_drift = fmax(worst_drift, fabs(potential + kinetic - first_energy));
}

static void *mover(void *arg)
{
    int id = (int)(intptr_t)arg;
    int low = (int)((long)n_particles * id / opt.threads), high = (int)((long)n_particles * (id + 1) / opt.threads);
    for (int step = 0; step <= opt.steps; step++) {
        if (step > 0)
            move_block(low, high);
        meet(id);
        find_forces(id);
        meet(id);
        finish_block(id, low, high, step > 0 ? TIME_STEP : 0.0);
        meet(id);
        if (id == 0)
            account_step(step);
    }
    return NULL;
}

static void run_movers(void)
{
    pthread_t movers[MAX_THREADS];
    pthread_barrier_init(&step_barrier, NULL, (unsigned)opt.threads);
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&movers[id], NULL, mover, (void *)(intptr_t)id);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(movers[id], NULL);
    pthread_barrier_destroy(&step_barrier);
}

static double total_momentum(void)
{
    double momentum[3] = {0};
    for (int i = 0; i < n_particles; i++)
        for (int d = 0; d < 3; d++)
            momentum[d] += particles[i].vel[d];
    return fabs(momentum[0]) + fabs(momentum[1]) + fabs(momentum[2]);
}

/* Conservation laws over the run, and the last step found again from where the particles ended. */
static int check(void)
{
    struct partial again = {0};
    double(*share)[3] = calloc((size_t)n_particles, sizeof *share);
    for (int i = 0; i < n_particles; i++)
        interact(i, share, &again);
    free(share);
    const char *why = NULL;
    if (!(fabs(again.potential - last_potential) <= 1e-9 * fabs(again.potential)))
        why = "the last potential energy is not that of the particles";
    else if (!(total_momentum() <= 1e-7 * n_particles))
        why = "momentum was not conserved";
    else if (!(worst_drift <= 2e-3 * fabs(first_energy)))
        why = "energy was not conserved";
    else if (last_pairs != again.pairs)
        why = "interactions were lost";
    if (why)
        printf("FAILED: %s (%ld interactions)\n", why, interactions);
    else
        printf("ok\n");
    return why != NULL;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "moldyn: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void usage(FILE *to)
{
    fputs("usage: moldyn [-t threads] [-n cells per edge] [-i steps] [-s seed] [--variant=pthread|tournament]\n", to);
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {{"variant", required_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "t:n:i:s:h", names, NULL)) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.cells = number(optarg, 3, 50);
        else if (c == 'i')
            opt.steps = number(optarg, 1, 100000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'V' && (strcmp(optarg, "pthread") == 0 || strcmp(optarg, "tournament") == 0))
            opt.tournament = optarg[0] == 't';
        else {
            usage(c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    n_particles = 4 * opt.cells * opt.cells * opt.cells;
    box = cbrt(n_particles / DENSITY);
    double cutoff = fmin(2.5, 0.5 * box);
    cutoff2 = cutoff * cutoff;
    particles = calloc((size_t)n_particles, sizeof *particles);
    for (int id = 0; id < opt.threads; id++)
        shares[id] = calloc((size_t)n_particles, sizeof *shares[id]);
    place_particles();
    heat_particles();
    run_movers();
    int failed = check();
    for (int id = 0; id < opt.threads; id++)
        free(shares[id]);
    free(particles);
    return failed;
}
