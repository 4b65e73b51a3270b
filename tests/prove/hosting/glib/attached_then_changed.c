/* A thread changes what the handler reads that it has given to the loop of another. Expected: race on text.
 * Packages: glib-2.0 */
#include <glib.h>

static GMainLoop *loop;
static int text;

static gboolean shows(gpointer unused)
{
    (void)unused;
    int seen = text;
    g_main_loop_quit(loop);
    return seen < 0;
}

static gpointer asks(gpointer context)
{
    GSource *s = g_idle_source_new();
    g_source_set_callback(s, shows, NULL, NULL);
#ifdef FIXED
    text = 1;
    g_source_attach(s, context);
#else
    g_source_attach(s, context);
    text = 1;
#endif
    g_source_unref(s);
    return NULL;
}

int main(void)
{
    GMainContext *context = g_main_context_new();
    loop = g_main_loop_new(context, FALSE);
    GThread *t = g_thread_new("asks", asks, context);
    g_main_loop_run(loop);
    g_thread_join(t);
    g_main_loop_unref(loop);
    g_main_context_unref(context);
    return 0;
}
