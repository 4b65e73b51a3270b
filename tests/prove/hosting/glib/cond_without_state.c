/* A thread waits for a GCond without looking whether what it waits for has come. Expected: lost-wakeup or deadlock.
 * Packages: glib-2.0 */
#include <glib.h>

static GMutex lock;
static GCond come;
static gboolean is_there;

static gpointer brings(gpointer unused)
{
    g_mutex_lock(&lock);
    is_there = TRUE;
    g_cond_signal(&come);
    g_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    GThread *t = g_thread_new("brings", brings, NULL);
    g_mutex_lock(&lock);
#ifdef FIXED
    while (!is_there)
#endif
        g_cond_wait(&come, &lock);
    g_mutex_unlock(&lock);
    g_thread_join(t);
    return !is_there;
}
