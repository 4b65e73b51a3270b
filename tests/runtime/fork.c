/* Fork from a program with threads: both processes go on, and each knows its own threads. vfork, posix_spawn and
 * system are not disturbed. */
#include "by_hand.h"

#include "runtime/core/threads.h"

#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static sem_t forever, ready;

static void *waiter(void *arg)
{
    sem_post(&ready);
    sem_wait(&forever);
    return arg;
}

static void *passer(void *arg)
{
    return arg;
}

static int status_of(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

NOINLINE static void in_child(void)
{
    ENTER;
    pthread_t t;
    CHECK(dh_threads_find(1) && dh_thread_state_name(dh_threads_find(1))[0] == 'a'); /* absent */
    CHECK(dh_threads_find(0)->tid == getpid());
    CHECK(pthread_create(&t, NULL, passer, NULL) == 0 && pthread_join(t, NULL) == 0);
    LEAVE;
}

int main(int argc, char **argv)
{
    ENTER;
    pthread_t t;
    sem_init(&forever, 0, 0);
    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, waiter, NULL);
    sem_wait(&ready);
    pid_t pid = fork();
    if (pid == 0) {
        in_child();
        exit(5);
    }
    CHECK(status_of(pid) == 5);
    printf("%d\n", (int)pid);
    if ((pid = vfork()) == 0) {
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(99);
    }
    CHECK(status_of(pid) == 6);
    if ((pid = vfork()) == 0)
        _exit(8); /* must not write the parent's file */
    CHECK(status_of(pid) == 8);
    CHECK(argc < 2 || access(argv[1], F_OK) != 0);
    char *const call[] = {"sh", "-c", "exit 9", NULL};
    CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, call, environ) == 0 && status_of(pid) == 9);
    CHECK(WEXITSTATUS(system("exit 10")) == 10);
    CHECK(dh_thread_state_name(dh_threads_find(1))[0] == 'r');
    LEAVE;
    return 0;
}
