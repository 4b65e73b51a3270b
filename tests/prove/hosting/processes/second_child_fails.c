/* Three tests, a child for each; the second one checks an answer before it waited for the thread that gives it.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int answer;

static void *worker(void *arg)
{
    answer = 42;
    return arg;
}

static void test(int number)
{
    pthread_t t = start(worker, 0);
    if (number == 1) {
#ifdef FIXED
        finish(t);
        assert(answer == 42);
#else
        for (int i = 0; i < 60; i++)
            own_work();
        assert(answer == 42);
        finish(t);
#endif
    } else {
        finish(t);
    }
}

int main(void)
{
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            test(i);
            _exit(0);
        }
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    return failed;
}
