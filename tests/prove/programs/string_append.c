/* Appending one text to another asks its length and then copies that many characters; it may have become shorter.
 * Expected: assertion at `longer than it is`. */
#include "threads.h"

#include <assert.h>
#include <string.h>

struct text {
    pthread_mutex_t lock;
    int length;
    char characters[16];
};

static struct text to = {PTHREAD_MUTEX_INITIALIZER, 0, ""}, from = {PTHREAD_MUTEX_INITIALIZER, 5, "heats"};

static int length(struct text *t)
{
    pthread_mutex_lock(&t->lock);
    int n = t->length;
    pthread_mutex_unlock(&t->lock);
    return n;
}

static void copy(struct text *t, int n, char *out)
{
    pthread_mutex_lock(&t->lock);
#ifdef FIXED
    if (n > t->length)
        n = t->length;
#endif
    assert(n <= t->length); /* longer than it is */
    memcpy(out, t->characters, (size_t)n);
    pthread_mutex_unlock(&t->lock);
}

static void *appender(void *arg)
{
    pthread_mutex_lock(&to.lock);
    int n = length(&from);
    copy(&from, n, to.characters + to.length);
    to.length += n;
    pthread_mutex_unlock(&to.lock);
    return arg;
}

static void *cutter(void *arg)
{
    pthread_mutex_lock(&from.lock);
    from.length = 0;
    pthread_mutex_unlock(&from.lock);
    return arg;
}

int main(void)
{
    RUN(appender, cutter);
    return 0;
}
