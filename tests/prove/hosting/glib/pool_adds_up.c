/* Tasks of a GThreadPool add to a sum that nothing guards. Expected: race on sum.
 * Packages: glib-2.0 */
#include <glib.h>

static GMutex lock;
static int sum;

static void adds(gpointer amount, gpointer unused)
{
    (void)unused;
#ifdef FIXED
    g_mutex_lock(&lock);
#endif
    sum += *(int *)amount;
#ifdef FIXED
    g_mutex_unlock(&lock);
#else
    (void)lock;
#endif
}

int main(void)
{
    static int amounts[2];
    GThreadPool *pool = g_thread_pool_new(adds, NULL, 2, TRUE, NULL);
    for (int i = 0; i < 2; i++) {
        amounts[i] = i + 1;
        g_thread_pool_push(pool, &amounts[i], NULL);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    return sum != 3;
}
