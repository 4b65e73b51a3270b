/* Runs each of its tests in a child, as check does, and ends a child that takes longer than two seconds. The second
 * test counts without a lock. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t child;

static void too_long(int signal)
{
    (void)signal;
    kill(child, SIGKILL);
}

static void *careful(void *arg)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *careless(void *arg)
{
    count++;
    return arg;
}

static void twice(void *(*what)(void *))
{
    pthread_t one, other;
    pthread_create(&one, NULL, what, NULL);
    pthread_create(&other, NULL, what, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static int run_test(int number)
{
    int status = 1;
    child = fork();
    if (child == 0) {
        if (number)
            twice(number == 1 ? careful : careless);
        _exit(0);
    }
    alarm(2);
    while (waitpid(child, &status, 0) < 0)
        ;
    alarm(0);
    return status != 0;
}

int main(void)
{
    int failed = 0;
    signal(SIGALRM, too_long);
    for (int i = 0; i < 3; i++)
        failed += run_test(i);
    printf("3 tests, %d failed\n", failed);
    return failed;
}
