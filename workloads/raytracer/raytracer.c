/* A ray tracer of 64 spheres, after raytracer of the Java Grande suite.
 *
 * Renderers take scan lines in turn. Each traces with a tracer of its own, prepared by main: its copy of the spheres,
 * its scratch ray, its lock. The checksum of all pixels proves the image: a renderer adds up its own pixels and at its
 * end adds that to the global checksum1, under a lock. But the lock is the one of its tracer, so every renderer locks
 * another one. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define SPHERES 64
#define DEPTH 5

static struct {
    int threads, size;
} opt = {.threads = 2, .size = 24};

struct vec {
    double x, y, z;
};

struct sphere {
    struct vec centre, colour;
    double radius, mirror, shine;
};

struct hit {
    const struct sphere *what;
    double distance;
};

struct tracer {
    pthread_mutex_t lock;
    int id;
    long checksum; /* of the lines this renderer traced */
    struct sphere *spheres[SPHERES];
    struct vec from, along; /* the ray being traced */
};

static struct tracer *tracers;
static int *image;
static long checksum1;
#ifdef FIXED
static pthread_mutex_t checksum_lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static const struct vec lamps[] = {
    {100, 100, -50}, {-100, 100, -50}, {100, -100, -50}, {-100, -100, -50}, {200, 200, 0}};

static struct vec add(struct vec a, struct vec b, double k)
{
    return (struct vec){a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}

static double dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec unit(struct vec a)
{
    double k = 1.0 / sqrt(dot(a, a));
    return (struct vec){k * a.x, k * a.y, k * a.z};
}

static double meet_sphere(const struct sphere *s, struct vec from, struct vec along)
{
    struct vec to = add(s->centre, from, -1);
    double middle = dot(to, along), square = s->radius * s->radius - (dot(to, to) - middle * middle);
    if (square < 0)
        return -1;
    double distance = middle - sqrt(square);
    return distance > 1e-6 ? distance : -1;
}

static struct hit nearest(const struct tracer *t, struct vec from, struct vec along)
{
    struct hit hit = {NULL, 1e30};
    for (int i = 0; i < SPHERES; i++) {
        double distance = meet_sphere(t->spheres[i], from, along);
        if (distance > 0 && distance < hit.distance)
            hit = (struct hit){t->spheres[i], distance};
    }
    return hit;
}

static bool in_shadow(const struct tracer *t, struct vec from, struct vec along, double limit)
{
    for (int i = 0; i < SPHERES; i++) {
        double distance = meet_sphere(t->spheres[i], from, along);
        if (distance > 0 && distance < limit)
            return true;
    }
    return false;
}

static struct vec lit(const struct tracer *t, const struct sphere *s, struct vec at, struct vec normal,
                      struct vec bounce)
{
    struct vec colour = {0, 0, 0};
    for (size_t i = 0; i < sizeof lamps / sizeof lamps[0]; i++) {
        struct vec to = add(lamps[i], at, -1);
        double distance = sqrt(dot(to, to));
        to = unit(to);
        double cosine = dot(normal, to);
        if (cosine <= 0 || in_shadow(t, at, to, distance))
            continue;
        colour = add(colour, s->colour, 0.3 * cosine);
        double gloss = dot(bounce, to);
        if (gloss > 0)
            colour = add(colour, (struct vec){1, 1, 1}, 0.2 * pow(gloss, s->shine));
    }
    return colour;
}

static struct vec shade(struct tracer *t, int depth)
{
    struct hit hit = nearest(t, t->from, t->along);
    if (!hit.what)
        return (struct vec){0, 0, 0};
    struct vec at = add(t->from, t->along, hit.distance);
    struct vec normal = unit(add(at, hit.what->centre, -1));
    struct vec bounce = unit(add(t->along, normal, -2 * dot(normal, t->along)));
    struct vec colour = lit(t, hit.what, at, normal, bounce);
    if (depth == 0)
        return colour;
    t->from = at;
    t->along = bounce;
    return add(colour, shade(t, depth - 1), hit.what->mirror);
}

static int byte(double v)
{
    return v >= 1 ? 255 : v <= 0 ? 0 : (int)(255 * v);
}

static int pixel(struct tracer *t, int x, int y)
{
    t->from = (struct vec){0, 0, -30};
    struct vec at = {(x + 0.5) / opt.size * 24 - 12, 12 - (y + 0.5) / opt.size * 24, 0};
    t->along = unit(add(at, t->from, -1));
    struct vec c = shade(t, DEPTH);
    return byte(c.x) << 16 | byte(c.y) << 8 | byte(c.z);
}

static long value_of(int colour)
{
    return (colour >> 16) + (colour >> 8 & 255) + (colour & 255);
}

static void add_to_checksum(struct tracer *t)
{
#ifdef FIXED
    pthread_mutex_t *lock = &checksum_lock;
#else
    pthread_mutex_t *lock = &t->lock;
#endif
    pthread_mutex_lock(lock);
    checksum1 += t->checksum;
    pthread_mutex_unlock(lock);
}

static void *renderer(void *arg)
{
    struct tracer *t = arg;
    for (int y = t->id; y < opt.size; y += opt.threads)
        for (int x = 0; x < opt.size; x++) {
            int colour = pixel(t, x, y);
            image[y * opt.size + x] = colour;
            t->checksum += value_of(colour);
        }
    add_to_checksum(t);
    return NULL;
}

static void prepare(struct tracer *t, int id)
{
    t->id = id;
    pthread_mutex_init(&t->lock, NULL);
    for (int i = 0; i < SPHERES; i++) {
        struct sphere *s = malloc(sizeof *s);
        *s = (struct sphere){.centre = {(i % 4) * 6.0 - 9, (i / 4 % 4) * 6.0 - 9, (i / 16) * 6.0 - 4},
                             .colour = {0.3 + 0.2 * (i % 4), 0.9 - 0.2 * (i / 4 % 4), 0.3 + 0.2 * (i / 16)},
                             .radius = 2.2,
                             .mirror = 0.4,
                             .shine = 15};
        t->spheres[i] = s;
    }
}

static void dispose(struct tracer *t)
{
    for (int i = 0; i < SPHERES; i++)
        free(t->spheres[i]);
    pthread_mutex_destroy(&t->lock);
}

static void run_renderers(void)
{
    pthread_t renderers[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&renderers[id], NULL, renderer, &tracers[id]);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(renderers[id], NULL);
}

/* Some pixels traced again by main, and the checksum against the image. */
static int check(void)
{
    long sum = 0;
    for (int i = 0; i < opt.size * opt.size; i++) {
        sum += value_of(image[i]);
        if (i % 11 == 0 && image[i] != pixel(&tracers[0], i % opt.size, i / opt.size)) {
            puts("FAILED: the image differs from a sequential rendering");
            return 1;
        }
    }
    if (sum != checksum1) {
        printf("FAILED: checksum %ld, the image has %ld\n", checksum1, sum);
        return 1;
    }
    puts("ok");
    return 0;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "raytracer: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:n:h")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.size = number(optarg, 1, 8000);
        else {
            fputs("usage: raytracer [-t threads] [-n image size]\n", c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    image = calloc((size_t)opt.size * (size_t)opt.size, sizeof *image);
    tracers = calloc((size_t)opt.threads, sizeof *tracers);
    for (int id = 0; id < opt.threads; id++)
        prepare(&tracers[id], id);
    run_renderers();
    int failed = check();
    for (int id = 0; id < opt.threads; id++)
        dispose(&tracers[id]);
    free(tracers);
    free(image);
    return failed;
}
