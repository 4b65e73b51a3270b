/* Sections that must not be held by a lock: one is entered under a lock that another takes inside, one waits for a
 * condition, one reads from a pipe, one goes round until a variable changes. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER, gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long length, state, bytes, turn;
static atomic_int grown;
static int channel[2];

static void grow_locked(void)
{
    length++;
}

static void grow(void)
{
    pthread_mutex_lock(&list_lock);
    grow_locked();
    pthread_mutex_unlock(&list_lock);
}

static void trim(void)
{
    long now = length;
    pthread_mutex_lock(&list_lock);
    length = now - 1;
    pthread_mutex_unlock(&list_lock);
}

static void wait_for_state(void)
{
    pthread_mutex_lock(&gate_lock);
    long before = state;
    while (state == before)
        pthread_cond_wait(&changed, &gate_lock);
    state = before + 2;
    pthread_mutex_unlock(&gate_lock);
}

static void set_state(void)
{
    pthread_mutex_lock(&gate_lock);
    state++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gate_lock);
}

static void receive(void)
{
    char byte;
    long before = bytes;
    if (read(channel[0], &byte, 1) == 1)
        bytes = before + 1;
}

static void take_turns(long mine)
{
    long before = turn;
    while (turn != mine)
        ;
    turn = before + 1;
}

static void *other(void *unused)
{
    char byte = 1;
    (void)unused;
    grow();
    atomic_store_explicit(&grown, 1, memory_order_relaxed);
    set_state();
    return write(channel[1], &byte, 1) == 1 ? &bytes : NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    if (pipe(channel) != 0)
        return 1;
    pthread_create(&t, NULL, other, NULL);
    while (!atomic_load_explicit(&grown, memory_order_relaxed)) /* that orders nothing */
        usleep(1000);
    trim();
    receive();
    if (argc > 5) {
        wait_for_state();
        take_turns(argc);
    }
    pthread_join(t, NULL);
    return 0;
}
