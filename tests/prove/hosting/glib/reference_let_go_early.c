/* A thread lets go of its reference and then looks at the object once more. Expected: race or use-after-free.
 * Packages: glib-2.0 */
#include <glib.h>

struct shared {
    int value;
};

static gpointer reads(gpointer memory)
{
    struct shared *s = memory;
#ifdef FIXED
    int seen = s->value;
    g_atomic_rc_box_release(s);
#else
    g_atomic_rc_box_release(s);
    int seen = s->value;
#endif
    return seen < 0 ? memory : NULL;
}

int main(void)
{
    struct shared *s = g_atomic_rc_box_new0(struct shared);
    GThread *t = g_thread_new("reads", reads, g_atomic_rc_box_acquire(s));
    g_atomic_rc_box_release(s);
    g_thread_join(t);
    return 0;
}
