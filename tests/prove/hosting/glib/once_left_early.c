/* The first to come says that the table is made before it has filled it. Expected: race on table.
 * Packages: glib-2.0 */
#include <glib.h>

static gsize made;
static int table[2];

static gpointer looks(gpointer unused)
{
    if (g_once_init_enter(&made)) {
#ifdef FIXED
        table[1] = 1;
        g_once_init_leave(&made, 1);
#else
        g_once_init_leave(&made, 1);
        table[1] = 1;
#endif
    }
    return table[1] < 0 ? NULL : unused;
}

int main(void)
{
    GThread *a = g_thread_new("looks", looks, NULL), *b = g_thread_new("looks", looks, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
