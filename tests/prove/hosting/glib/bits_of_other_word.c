/* Two threads lock a bit, each in another word. Expected: race on count.
 * Packages: glib-2.0 */
#include <glib.h>

static gint words[2];
static int count;

static gpointer counts(gpointer word)
{
    g_bit_lock(word, 2);
    count++;
    g_bit_unlock(word, 2);
    return NULL;
}

int main(void)
{
    GThread *a = g_thread_new("counts", counts, &words[0]);
#ifdef FIXED
    GThread *b = g_thread_new("counts", counts, &words[0]);
#else
    GThread *b = g_thread_new("counts", counts, &words[1]);
#endif
    g_thread_join(a);
    g_thread_join(b);
    return count != 2;
}
