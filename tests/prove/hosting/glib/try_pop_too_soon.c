/* A thread takes it for granted that something is in the queue already. Expected: assertion.
 * Packages: glib-2.0 */
#include <assert.h>
#include <glib.h>

static int message;

static gpointer pushes(gpointer queue)
{
    g_async_queue_push(queue, &message);
    return NULL;
}

int main(void)
{
    GAsyncQueue *queue = g_async_queue_new();
    GThread *t = g_thread_new("pushes", pushes, queue);
#ifdef FIXED
    assert(g_async_queue_pop(queue) == &message);
#else
    assert(g_async_queue_try_pop(queue) == &message);
#endif
    g_thread_join(t);
    g_async_queue_unref(queue);
    return 0;
}
