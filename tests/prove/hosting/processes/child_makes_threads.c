/* A test harness runs its test in a child: the threads, and the lost update, are the child's.
 * Expected: assertion. Also: race on `count`. */
#include "threads.h"

#include <assert.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *adder(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    count++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        RUN(adder, adder);
        assert(count == 2);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}
