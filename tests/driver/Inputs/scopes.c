// Critical sections with branches, early ends, wrappers, nested locks and callees.
#include <pthread.h>

struct call {
    pthread_mutex_t lock, other;
    int waiting, people, claimed, spare;
};

void deep(struct call *c);
void (*unknown)(struct call *c);

__attribute__((noinline)) void deep(struct call *c)
{
    c->spare = 1;
    if (c->waiting)
        deep(c);
}

// The branch that is not taken counts.
void branch(struct call *c, int taken)
{
    pthread_mutex_lock(&c->lock);
    c->claimed = 0;
    if (taken)
        c->people = 0;
    pthread_mutex_unlock(&c->lock);
    c->spare = 2;
}

// What comes after any of the ends does not.
int early(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->claimed) {
        pthread_mutex_unlock(&c->lock);
        return c->spare;
    }
    c->people++;
    pthread_mutex_unlock(&c->lock);
    return c->waiting;
}

// The other lock's unlock is not the end.
void nested(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    pthread_mutex_lock(&c->other);
    c->claimed = 1;
    pthread_mutex_unlock(&c->other);
    c->people = 1;
    pthread_mutex_unlock(&c->lock);
}

void callees(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    deep(c);
    unknown(c);
    pthread_mutex_unlock(&c->lock);
}

__attribute__((noinline)) static void acquire(struct call *c)
{
    pthread_mutex_lock(&c->lock);
}

__attribute__((noinline)) static void release(struct call *c)
{
    pthread_mutex_unlock(&c->lock);
}

void wrapped(struct call *c)
{
    acquire(c);
    c->waiting = 1;
    release(c);
    c->people = 2;
}

__attribute__((noinline)) static int read_people(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    int people = c->people;
    pthread_mutex_unlock(&c->lock);
    return people;
}

// What is read in one section is used in another, and decides over a third.
void stale(struct call *c)
{
    int people = read_people(c) + 1;
    pthread_mutex_lock(&c->lock);
    c->people = people;
    pthread_mutex_unlock(&c->lock);
    if (read_people(c) > 3)
        branch(c, 0);
}

// A value goes back to where it was read; a pointer is used since it is there; asked again under a lock it is neither.
int counted;
struct call *current;

void steps(struct call *c)
{
    counted++;
    if (current)
        current->spare = 3;
    if (c->waiting)
        return;
    pthread_mutex_lock(&c->lock);
    c->waiting = 4;
    pthread_mutex_unlock(&c->lock);
}

// A section that may wait, for one condition that is signalled and for one that is not.
pthread_cond_t told = PTHREAD_COND_INITIALIZER, forgotten = PTHREAD_COND_INITIALIZER;

void wait_for_both(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->waiting > 9)
        pthread_cond_wait(&told, &c->lock);
    while (c->people > 99)
        pthread_cond_wait(&forgotten, &c->lock);
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&c->lock);
}

int main(int n, char **v)
{
    static struct call c = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0};
    (void)v;
    unknown = deep;
    branch(&c, n);
    nested(&c);
    callees(&c);
    wrapped(&c);
    stale(&c);
    steps(&c);
    wait_for_both(&c);
    return early(&c) != 1;
}
