/* Tasks are posted to a loop by eventfd and a list; the list is taken without its lock when the loop wakes.
 * Expected: assertion or crash or race on `posted`. */
#include "threads.h"

#include <assert.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct task {
    struct task *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *posted;
static int set, wake, done;

static void *loop(void *arg)
{
    while (done < 2) {
        struct epoll_event e;
        uint64_t n;
        if (epoll_wait(set, &e, 1, -1) != 1 || read(wake, &n, sizeof n) != sizeof n)
            abort();
#ifdef FIXED
        pthread_mutex_lock(&lock);
#endif
        struct task *all = posted;
        posted = NULL;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
        for (; all; all = all->next)
            done++;
    }
    return arg;
}

static void *poster(void *arg)
{
    static struct task tasks[3];
    struct task *t = &tasks[(long)arg];
    uint64_t one = 1;
    pthread_mutex_lock(&lock);
    t->next = posted;
    posted = t;
    pthread_mutex_unlock(&lock);
    assert(write(wake, &one, sizeof one) == sizeof one);
    return NULL;
}

int main(void)
{
    struct epoll_event e = {.events = EPOLLIN};
    set = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_CLOEXEC);
    epoll_ctl(set, EPOLL_CTL_ADD, wake, &e);
    RUN(loop, poster, poster);
    return 0;
}
