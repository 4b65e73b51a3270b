/* Readers of a GRWLock count themselves in a plain variable. Expected: race on readers.
 * Packages: glib-2.0 */
#include <glib.h>

static GRWLock lock;
static int value, readers;

static gpointer reads(gpointer unused)
{
    g_rw_lock_reader_lock(&lock);
#ifdef FIXED
    g_atomic_int_inc(&readers);
#else
    readers++;
#endif
    int seen = value;
    g_rw_lock_reader_unlock(&lock);
    return seen < 0 ? NULL : unused;
}

static gpointer writes(gpointer unused)
{
    g_rw_lock_writer_lock(&lock);
    value = 1;
    g_rw_lock_writer_unlock(&lock);
    return unused;
}

int main(void)
{
    GThread *t[] = {g_thread_new("reads", reads, NULL), g_thread_new("reads", reads, NULL),
                    g_thread_new("writes", writes, NULL)};
    for (int i = 0; i < 3; i++)
        g_thread_join(t[i]);
    return 0;
}
