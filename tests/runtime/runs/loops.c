/* A loop in one thread, an access to one byte in another, in an order that nobody sees: a race on that byte is reported if
 * the loop touched it and one of the two wrote, and else none. Ends with 1 when that was wrong. */
#include "invisible.h"
#include "tracked.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define R(x) (x)
#define W(x) (x)
#define LOOP(name, type, ...)                                                                                          \
    static __attribute__((noinline)) void name(void *memory, long p, long q)                                           \
    {                                                                                                                  \
        type *a = memory;                                                                                              \
        double sink = 0;                                                                                               \
        __VA_ARGS__                                                                                                    \
        keep(sink);                                                                                                    \
    }
#include "loops.h"
#undef LOOP

static const struct {
    const char *name;
    void (*run)(void *memory, long p, long q);
} loops[] = {
#define LOOP(name, type, ...) {#name, name},
#include "loops.h"
#undef LOOP
};

static struct {
    char *arena;
    size_t loop, byte;
    long p, q;
    bool write, loop_first;
} now;

static void *in_loop(void *unused)
{
    if (!now.loop_first)
        meet();
    loops[now.loop].run(now.arena, now.p, now.q);
    if (now.loop_first)
        meet();
    return unused;
}

static void *on_byte(void *unused)
{
    if (now.loop_first)
        meet();
    if (now.write)
        now.arena[now.byte] = 1;
    else
        keep(now.arena[now.byte]);
    if (!now.loop_first)
        meet();
    return unused;
}

static bool is_right(void)
{
    pthread_t a, b;
    unsigned touched = track(now.loop, now.p, now.q, now.byte), expected = now.write ? touched : touched & TOUCH_WRITES;
    now.arena = calloc(1, ARENA);
    meet_anew();
    forget_reports();
    watch(now.arena + now.byte, 1);
    if (pthread_create(&a, NULL, in_loop, NULL) || pthread_create(&b, NULL, on_byte, NULL))
        abort();
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(now.arena);
    return !reported_outside() && (expected ? reported_inside() > 0 : !reported_inside());
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 100, wrong = 0;
    unsigned hits = 0, seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    for (now.loop = 0; now.loop < sizeof loops / sizeof *loops; now.loop++)
        for (int i = 0; i < times; i++) {
            now.p = rand_r(&seed) % 60;
            now.q = now.p + rand_r(&seed) % 64 - 2;
            now.q = now.q < 0 ? 0 : now.q;
            now.write = rand_r(&seed) & 1;
            now.loop_first = rand_r(&seed) & 1;
            now.byte = some_byte(now.loop, now.p, now.q, (unsigned)rand_r(&seed));
            hits += track(now.loop, now.p, now.q, now.byte) != 0;
            if (is_right())
                continue;
            wrong++;
            printf("%s(%ld, %ld) %s byte %zu %s: %u reports on it, %u on others\n", loops[now.loop].name, now.p, now.q,
                   now.loop_first ? "then" : "after", now.byte, now.write ? "written" : "read", reported_inside(),
                   reported_outside());
        }
    printf("%u of %zu touched\n", hits, sizeof loops / sizeof *loops * (size_t)times);
    return wrong > 0;
}
