#include "tracked.h"

#include <string.h>

static unsigned char touched[ARENA];
static char memory[ARENA] __attribute__((aligned(16)));

void keep(double value)
{
    static volatile double kept;
    kept = value;
}

static void touch(const void *at, size_t size, unsigned how)
{
    for (size_t i = 0; i < size; i++)
        touched[(size_t)((const char *)at - memory) + i] |= how;
}

#define R(x) (*(touch(&(x), sizeof(x), TOUCH_READS), &(x)))
#define W(x) (*(touch(&(x), sizeof(x), TOUCH_WRITES), &(x)))
#define LOOP(name, type, ...)                                                                                          \
    static void name(void *start, long p, long q)                                                                      \
    {                                                                                                                  \
        type *a = start;                                                                                               \
        double sink = 0;                                                                                               \
        __VA_ARGS__                                                                                                    \
        keep(sink);                                                                                                    \
    }
#include "loops.h"
#undef LOOP

static void (*const loops[])(void *start, long p, long q) = {
#define LOOP(name, type, ...) name,
#include "loops.h"
#undef LOOP
};

static void perform(size_t loop, long p, long q)
{
    memset(touched, 0, sizeof touched);
    memset(memory, 0, sizeof memory);
    loops[loop](memory, p, q);
}

unsigned track(size_t loop, long p, long q, size_t byte)
{
    perform(loop, p, q);
    return touched[byte];
}

size_t some_byte(size_t loop, long p, long q, unsigned random)
{
    size_t n = 0;
    perform(loop, p, q);
    for (size_t i = 0; i < ARENA; i++)
        n += touched[i] || touched[i ? i - 1 : 0] || touched[i + 1 < ARENA ? i + 1 : i];
    if (!n)
        return random % ARENA;
    n = random % n;
    for (size_t i = 0;; i++)
        if ((touched[i] || touched[i ? i - 1 : 0] || touched[i + 1 < ARENA ? i + 1 : i]) && n-- == 0)
            return i;
}
