/* Each thread has a GOnce of its own for what there is but once. Expected: race on shared.
 * Packages: glib-2.0 */
#include <glib.h>

static GOnce common = G_ONCE_INIT;
static int shared;

static gpointer make(gpointer unused)
{
    shared = 1;
    return unused;
}

static gpointer uses(gpointer own)
{
#ifdef FIXED
    (void)own;
    g_once(&common, make, NULL);
#else
    (void)common;
    g_once((GOnce *)own, make, NULL);
#endif
    return shared < 0 ? own : NULL;
}

int main(void)
{
    static GOnce own[2] = {G_ONCE_INIT, G_ONCE_INIT};
    GThread *a = g_thread_new("uses", uses, &own[0]), *b = g_thread_new("uses", uses, &own[1]);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
