/* A section calls through a pointer what takes a lock under which others come to the section's variable. */
#include <pthread.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static long length, changes;

static void note_change(void)
{
    pthread_mutex_lock(&list_lock);
    changes++;
    pthread_mutex_unlock(&list_lock);
}

static void (*listener)(void) = note_change;

static void trim(void)
{
    long now = length;
    listener();
    length = now - 1;
}

static void *grow(void *unused)
{
    pthread_mutex_lock(&list_lock);
    length++;
    pthread_mutex_unlock(&list_lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 5)
        listener = (void (*)(void))argv;
    pthread_create(&t, NULL, grow, NULL);
    trim();
    pthread_join(t, NULL);
    return changes != 1;
}
