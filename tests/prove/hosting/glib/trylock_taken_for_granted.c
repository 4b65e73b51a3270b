/* What g_mutex_trylock answers is not looked at. Expected: race on taken.
 * Packages: glib-2.0 */
#include <glib.h>

static GMutex lock;
static int taken;

static gpointer takes(gpointer unused)
{
    gboolean held = g_mutex_trylock(&lock);
#ifdef FIXED
    if (!held)
        return unused;
#endif
    taken++;
    if (held)
        g_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    GThread *a = g_thread_new("takes", takes, NULL), *b = g_thread_new("takes", takes, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return taken < 1;
}
