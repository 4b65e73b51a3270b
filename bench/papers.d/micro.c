/* Object accesses in a loop, by the state that the object race detector has the object in (von Praun, Tables 7.1 and
 * 7.7).  usage: micro KIND STATE LOOPS     KIND: field call virtual monitor shared-read
 * Three threads and no order between them but time: main makes the object and is its owner, the worker runs the loop,
 * the guest comes before the worker where the state needs a third one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct object {
    long a, b;
    long (*step)(struct object *o);
};

static struct object *object;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *kind, *state;
static long loops;

/* The optimiser must not keep a field in a register: each round reads it and writes it. */
static inline void round_is_over(void)
{
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static long step(struct object *o)
{
    o->a++;
    round_is_over();
    return 0;
}

static long other_step(struct object *o)
{
    o->b++;
    return 1;
}

static long run_fields(struct object *o)
{
    for (long i = 0; i < loops; i++) {
        o->a++;
        round_is_over();
    }
    return 0;
}

static long run_reads(struct object *o)
{
    long sum = 0;
    for (long i = 0; i < loops; i++) {
        sum += o->a;
        round_is_over();
    }
    return sum;
}

static long run_calls(struct object *o)
{
    for (long i = 0; i < loops; i++)
        step(o);
    return 0;
}

static long run_virtual_calls(struct object *o)
{
    long sum = 0;
    for (long i = 0; i < loops; i++) {
        sum += o->step(o);
        round_is_over();
    }
    return sum;
}

static long run_monitors(struct object *o)
{
    for (long i = 0; i < loops; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return o != NULL;
}

static const struct {
    const char *kind;
    long (*run)(struct object *o);
} kinds[] = {{"field", run_fields},
             {"shared-read", run_reads},
             {"call", run_calls},
             {"virtual", run_virtual_calls},
             {"monitor", run_monitors}};

static void *work(void *arg)
{
    long sum = 0;
    int locked = !strcmp(state, "handoff-1") || !strcmp(state, "shared");
    if (!arg)
        usleep(20000); /* the guest goes first */
    if (locked)
        pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind))
            sum = kinds[i].run(object);
    if (locked)
        pthread_mutex_unlock(&lock);
    return (void *)sum;
}

static void *visit(void *arg)
{
    int locked = !strcmp(state, "shared");
    if (locked)
        pthread_mutex_lock(&lock);
    if (strcmp(kind, "shared-read"))
        object->a++;
    else
        object->b = object->a; /* somebody else reads what the worker reads */
    if (locked)
        pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t worker, guest;
    if (argc != 4)
        return 2;
    kind = argv[1];
    state = argv[2];
    loops = atol(argv[3]);
    object = calloc(1, sizeof *object);
    if (!object)
        return 1;
    object->step = argc > 8 ? other_step : step;
    if (!strcmp(state, "owned"))
        return work(&worker) == &worker;
    int visited = !strcmp(state, "shared") || !strcmp(state, "conflict");
    if (pthread_create(&worker, NULL, work, NULL) || (visited && pthread_create(&guest, NULL, visit, NULL)))
        return 1;
    pthread_join(worker, NULL);
    if (visited)
        pthread_join(guest, NULL);
    free(object);
    return 0;
}
