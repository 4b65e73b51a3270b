/* Accesses of every size and pattern between locks. What each section touches is computed by the test in the same way:
 * bytes read and written must be told exactly, section by section. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 16, SECTIONS = 60 };
struct three {
    uint64_t a, b, c;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
unsigned char *area;
volatile uint64_t sink;
static __thread uint32_t random_state;

#define OUT_OF_LINE __attribute__((noinline))
#define SIZED(type, bits)                                                                                              \
    static OUT_OF_LINE void get##bits(uint32_t at)                                                                     \
    {                                                                                                                  \
        sink = *(type *)(area + at);                                                                                   \
    }                                                                                                                  \
    static OUT_OF_LINE void put##bits(uint32_t at)                                                                     \
    {                                                                                                                  \
        *(type *)(area + at) = (type)at;                                                                               \
    }
SIZED(uint8_t, 8)
SIZED(uint16_t, 16)
SIZED(uint32_t, 32)
SIZED(uint64_t, 64)

static uint32_t next(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static OUT_OF_LINE void copy_struct(uint32_t to, uint32_t from)
{
    *(struct three *)(area + to) = *(const struct three *)(area + from);
}

static OUT_OF_LINE void sweep_up(uint32_t from, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += ((uint64_t *)(area + from))[i] ^ sum << 1;
    sink = sum;
}

static OUT_OF_LINE void sweep_down(uint32_t from, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;)
        ((uint32_t *)(area + from))[i] += i;
}

static OUT_OF_LINE void stride(uint32_t from, uint32_t n, uint32_t step)
{
    for (uint32_t i = 0; i < n; i++)
        ((uint16_t *)(area + from))[i * step]++;
}

static OUT_OF_LINE void characters(uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        area[from + i] ^= (unsigned char)i;
}

static void act(uint32_t what)
{
    switch (what) {
    case 0:
        get8(next(SIZE));
        break;
    case 1:
        put8(next(SIZE));
        break;
    case 2:
        get16(next(SIZE / 2) * 2);
        break;
    case 3:
        put16(next(SIZE / 2) * 2);
        break;
    case 4:
        get32(next(SIZE / 4) * 4);
        break;
    case 5:
        put32(next(SIZE / 4) * 4);
        break;
    case 6:
        get64(next(SIZE / 8) * 8);
        break;
    case 7:
        put64(next(SIZE / 8) * 8);
        break;
    case 8: {
        uint32_t to = next(2000) * 24, from = next(2000) * 24;
        if (to != from)
            copy_struct(to, from);
        break;
    }
    case 9: {
        uint32_t from = next(4000) * 8;
        sweep_up(from, next(300));
        break;
    }
    case 10: {
        uint32_t from = next(4000) * 8;
        sweep_down(from, next(300));
        break;
    }
    case 11: {
        uint32_t from = next(4000) * 8, n = next(100);
        stride(from, n, 1 + next(20));
        break;
    }
    case 12: {
        uint32_t from = next(50000);
        characters(from, next(200));
        break;
    }
    case 13: {
        uint32_t at = next(64) * 4;
        for (int i = 0; i < 50; i++)
            get32(at);
        break;
    }
    case 14: {
        uint32_t to = next(30000), n = next(3000);
        memset(area + to, 1, n);
        break;
    }
    case 15: {
        uint32_t at = next(SIZE / 8 - 1) * 8 + 4;
        get64(at);
        put64(at);
        break;
    }
    }
}

static void *worker(void *seed)
{
    random_state = (uint32_t)(uintptr_t)seed;
    for (int i = 0; i < SECTIONS; i++) {
        pthread_mutex_lock(&mutex);
        uint32_t n = 1 + next(i % 10 == 9 ? 3000 : 30);
        while (n--)
            act(next(16));
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    area = aligned_alloc(64, SIZE + 64);
    memset(area, 0, SIZE + 64);
    printf("%p\n", (void *)area);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
