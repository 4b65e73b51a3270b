// suspect: payload
// As message passing, with fences; broken: the flag is raised before the payload is there.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct {
    long payload;
    atomic_int full;
} mail;

static void *sender(void *arg)
{
#ifdef BROKEN
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&mail.full, 1, memory_order_relaxed);
    mail.payload = 7;
#else
    mail.payload = 7;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&mail.full, 1, memory_order_relaxed);
#endif
    return arg;
}

static void *receiver(void *arg)
{
    while (!atomic_load_explicit(&mail.full, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    return (void *)(mail.payload + (long)arg);
}

int main(void)
{
    pthread_t s, r;
    pthread_create(&s, 0, sender, 0);
    pthread_create(&r, 0, receiver, 0);
    pthread_join(s, 0);
    pthread_join(r, 0);
    return 0;
}
