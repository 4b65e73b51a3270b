/* A wait whose time is over is taken for one whose value has come. Expected: assertion.
 * Packages: glib-2.0 */
#include <assert.h>
#include <glib.h>

static GMutex lock;
static GCond come;
static int value;

static gpointer brings(gpointer unused)
{
    g_mutex_lock(&lock);
    value = 5;
    g_cond_broadcast(&come);
    g_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    GThread *t = g_thread_new("brings", brings, NULL);
    gint64 until = g_get_monotonic_time() + 100 * G_TIME_SPAN_MILLISECOND;
    g_mutex_lock(&lock);
    gboolean in_time = TRUE;
    while (in_time && !value)
        in_time = g_cond_wait_until(&come, &lock, until);
#ifdef FIXED
    if (in_time)
#endif
        assert(value == 5);
    g_mutex_unlock(&lock);
    g_thread_join(t);
    return 0;
}
