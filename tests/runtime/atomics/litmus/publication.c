// A new version of a structure is made aside and published by its pointer; readers follow the pointer (as with RCU).
// RIGHT: -DFOLLOW=acquire
// WRONG: limit -DPUBLISH=relaxed
// WRONG: limit -DFOLLOW=relaxed
#include "litmus.h"
#include <stdlib.h>
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef FOLLOW
#define FOLLOW consume
#endif

struct config {
    int limit, version;
};
static _Atomic(struct config *) current;

static void *updater(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        struct config *next = malloc(sizeof *next);
        next->version = i;
        next->limit = i * 100;
        STORE(current, next, PUBLISH);
        invisible_reach(i);
    }
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        invisible_await(i);
        struct config *seen = LOAD(current, FOLLOW);
        if (seen->limit != seen->version * 100)
            puts("torn");
    }
    puts("read");
    return NULL;
}

int main(void)
{
    TOGETHER(updater, reader);
    return 0;
}
