/* The reader takes the journal inside the table, the writer the table inside the journal: a cycle through a read
 * lock.
 * Expected: deadlock at `journal` and `table`. */
#include "threads.h"

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static int rows, entries;

static void *reader(void *arg)
{
    pthread_rwlock_rdlock(&table);
    pthread_mutex_lock(&journal); /* journal */
    entries = rows;
    pthread_mutex_unlock(&journal);
    pthread_rwlock_unlock(&table);
    return arg;
}

static void *writer(void *arg)
{
#ifdef FIXED
    pthread_rwlock_wrlock(&table);
    pthread_mutex_lock(&journal);
#else
    pthread_mutex_lock(&journal);
    pthread_rwlock_wrlock(&table); /* table */
#endif
    rows++;
    entries++;
    pthread_rwlock_unlock(&table);
    pthread_mutex_unlock(&journal);
    return arg;
}

int main(void)
{
    RUN(reader, writer);
    return 0;
}
