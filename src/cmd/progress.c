#include "cmd/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 1 << 16, EVERY = 200000000 };

bool dh_progress_step(struct dh_progress *p)
{
    struct timespec t;
    if (++p->steps % STEPS || !isatty(STDERR_FILENO))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (now < p->next)
        return false;
    p->next = now + EVERY;
    return true;
}

void dh_progress_show(struct dh_progress *p, uint64_t at, uint64_t of)
{
    fprintf(stderr, "\r%s: %llu%%, %llu million events\033[K", p->what, (unsigned long long)(of ? at * 100 / of : 0),
            (unsigned long long)(p->steps / 1000000));
    p->shown = true;
}

void dh_progress_end(struct dh_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
