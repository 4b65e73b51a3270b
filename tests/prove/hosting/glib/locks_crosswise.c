/* Two threads take two GMutexes, each in its own order. Expected: deadlock.
 * Packages: glib-2.0 */
#include <glib.h>

static GMutex from, to;

static gpointer there(gpointer unused)
{
    g_mutex_lock(&from);
    g_mutex_lock(&to);
    g_mutex_unlock(&to);
    g_mutex_unlock(&from);
    return unused;
}

static gpointer back(gpointer unused)
{
#ifdef FIXED
    return there(unused);
#else
    g_mutex_lock(&to);
    g_mutex_lock(&from);
    g_mutex_unlock(&from);
    g_mutex_unlock(&to);
    return unused;
#endif
}

int main(void)
{
    GThread *a = g_thread_new("there", there, NULL), *b = g_thread_new("back", back, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
