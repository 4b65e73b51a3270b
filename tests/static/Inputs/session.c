/* Each thread has a session of its own in thread-specific data. With PUBLISHED another thread looks at it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    int uses;
    struct session *outer;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct session *innermost;
#ifdef PUBLISHED
static struct session *watched;
#endif

static void close_session(void *mine)
{
    struct session *s = mine;
    printf("%d uses\n", s->uses);
    free(s);
}

static void make_key(void)
{
    pthread_key_create(&key, close_session);
}

static struct session *session(void)
{
    pthread_once(&once, make_key);
    struct session *s = pthread_getspecific(key);
    if (!s) {
        s = calloc(1, sizeof *s);
        pthread_setspecific(key, s);
    }
    s->uses++;
    return s;
}

static void *worker(void *arg)
{
    struct session inner = {.outer = session()};
    innermost = calloc(1, sizeof *innermost);
    innermost->outer = &inner;
    innermost->uses = ++inner.outer->uses;
#ifdef PUBLISHED
    watched = innermost;
#endif
    innermost->uses++;
    free(innermost);
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
#ifdef PUBLISHED
    if (watched)
        printf("%d\n", watched->uses);
#endif
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", session()->uses);
    return 0;
}
