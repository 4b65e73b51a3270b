/* What the loops touch, told by the same source compiled without deadheat. */
#ifndef DH_TESTS_RUNS_TRACKED_H
#define DH_TESTS_RUNS_TRACKED_H

#include <stdbool.h>
#include <stddef.h>

enum { ARENA = 4096, TOUCH_READS = 1, TOUCH_WRITES = 2 };
struct pair {
    double first;
    int second;
    float third;
};
struct row {
    int cell[16];
};
/* So that what was read is needed. */
void keep(double value);
/* What loop number `loop` does with a byte of its memory. */
unsigned track(size_t loop, long p, long q, size_t byte);
/* A byte that it touches, or one that lies next to such a one. */
size_t some_byte(size_t loop, long p, long q, unsigned random);

#endif
