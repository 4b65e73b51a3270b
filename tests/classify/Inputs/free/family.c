/* Children by fork and by exec, threads in each, a handler that looks at what others write; it ends as it likes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long counter;
static volatile sig_atomic_t seen;

static void look(int signal)
{
    (void)signal;
    seen = counter < 0;
    counter = counter + 0;
}

static void *count(void *unused)
{
    for (int i = 0; i < 3000; i++)
        counter = counter + 1;
    return unused;
}

static void with_threads(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static int child_of(char **argv, const char *kind)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        with_threads();
        if (strcmp(kind, "fork") == 0)
            _exit(5);
        execl(argv[0], argv[0], "leaf", (char *)NULL);
        _exit(6);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    struct itimerval often = {{0, 2000}, {0, 2000}};
    if (argc > 1 && strcmp(argv[1], "leaf") == 0) {
        with_threads();
        return 9;
    }
    signal(SIGALRM, look);
    setitimer(ITIMER_REAL, &often, NULL);
    with_threads();
    int forked = child_of(argv, "fork");
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    int executed = child_of(argv, "exec");
    printf("%d %d\n", forked, executed);
    fflush(stdout);
    if (argc > 1)
        raise(SIGTERM);
    return 7;
}
