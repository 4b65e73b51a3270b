/* One of two threads takes the GMutex of a balance, the other forgets it. Expected: race on balance.
 * Packages: glib-2.0 */
#include <glib.h>

static GMutex lock;
static int balance;

static gpointer pay(gpointer amount)
{
    g_mutex_lock(&lock);
    balance += GPOINTER_TO_INT(amount);
    g_mutex_unlock(&lock);
    return NULL;
}

static gpointer take(gpointer amount)
{
#ifdef FIXED
    g_mutex_lock(&lock);
#endif
    balance -= GPOINTER_TO_INT(amount);
#ifdef FIXED
    g_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    GThread *a = g_thread_new("pay", pay, GINT_TO_POINTER(7));
    GThread *b = g_thread_new("take", take, GINT_TO_POINTER(3));
    g_thread_join(a);
    g_thread_join(b);
    return balance != 4;
}
