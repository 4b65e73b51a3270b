/* The program executes itself with another argument, and only that one makes threads.
 * Expected: assertion. Also: race on `total`. */
#include "threads.h"

#include <assert.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int total;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *adder(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total += 2;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc > 1 && !strcmp(argv[1], "worker")) {
        RUN(adder, adder);
        assert(total == 4);
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "worker", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status != 0;
}
