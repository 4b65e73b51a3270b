/* A message is changed after it was pushed to a GAsyncQueue. Expected: race.
 * Packages: glib-2.0 */
#include <glib.h>

static GAsyncQueue *queue;

static gpointer reads(gpointer unused)
{
    int *message = g_async_queue_pop(queue);
    int value = *message;
    g_free(message);
    return value < 0 ? NULL : unused;
}

int main(void)
{
    queue = g_async_queue_new();
    GThread *t = g_thread_new("reads", reads, NULL);
    int *message = g_new0(int, 1);
#ifdef FIXED
    *message = 1;
    g_async_queue_push(queue, message);
#else
    g_async_queue_push(queue, message);
    *message = 1;
#endif
    g_thread_join(t);
    g_async_queue_unref(queue);
    return 0;
}
