/* Threads are named and asked for names, attributes, affinity and scheduling, by themselves and by others, between
 * their creation and the race: nothing of it may be other in a replay with kernel threads. Expected: race. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_mutex_t asked = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void ask(pthread_t thread, const char *call_it)
{
    char name[16];
    cpu_set_t set;
    int policy;
    struct sched_param p;
    clockid_t clock;
    pthread_attr_t attributes;
    void *stack;
    size_t size;
    assert(pthread_setname_np(thread, call_it) == 0);
    assert(pthread_setname_np(thread, "sixteen letters.") != 0);
    assert(pthread_getname_np(thread, name, sizeof name) == 0 && strcmp(name, call_it) == 0);
    assert(pthread_getname_np(thread, name, 15) != 0);
    assert(pthread_getaffinity_np(thread, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    assert(pthread_getschedparam(thread, &policy, &p) == 0);
    assert(pthread_getcpuclockid(thread, &clock) == 0);
    assert(pthread_getattr_np(thread, &attributes) == 0);
    assert(pthread_attr_getstack(&attributes, &stack, &size) == 0 && stack && size);
    assert(pthread_attr_destroy(&attributes) == 0);
}

static void *works(void *unused)
{
    char name[16];
    pthread_attr_t attributes;
    char *stack;
    size_t size;
    pthread_mutex_lock(&asked);
    pthread_mutex_unlock(&asked);
    assert(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "worker") == 0);
    assert(prctl(PR_SET_NAME, "itself") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "itself") == 0);
    assert(pthread_getattr_np(pthread_self(), &attributes) == 0);
    assert(pthread_attr_getstack(&attributes, (void **)&stack, &size) == 0);
    assert(name > stack && name < stack + size);
    pthread_attr_destroy(&attributes);
    add();
    return unused;
}

int main(void)
{
    pthread_t t;
    char name[16];
    pthread_mutex_lock(&asked);
    pthread_create(&t, NULL, works, NULL);
    ask(t, "worker");
    ask(pthread_self(), "first");
    assert(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "first") == 0);
    assert(prctl(PR_SET_NAME, (char *)1) != 0);
    pthread_mutex_unlock(&asked);
    add();
    pthread_join(t, NULL);
    return total != 2;
}
