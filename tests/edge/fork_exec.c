// fork with memory written in the child, wait, exec of itself, pipes between the two.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared = 1;

int main(int argc, char **argv)
{
    if (argc > 1) {
        printf("child program: %s\n", argv[1]);
        return 9;
    }
    int fd[2], status;
    if (pipe(fd))
        return 1;
    pid_t p = fork();
    if (p == 0) {
        shared += 41;
        if (write(fd[1], &shared, sizeof shared) < 0)
            _exit(1);
        _exit(3);
    }
    int got = 0;
    if (read(fd[0], &got, sizeof got) < 0)
        return 1;
    waitpid(p, &status, 0);
    printf("%d %d %d\n", got, shared, WEXITSTATUS(status));
    fflush(stdout);
    p = fork();
    if (p == 0) {
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        _exit(127);
    }
    waitpid(p, &status, 0);
    printf("exec %d\n", WEXITSTATUS(status));
    fflush(stdout);
    p = fork();
    if (p == 0) {
        printf("grandchild output\n");
        exit(4);
    }
    waitpid(p, &status, 0);
    printf("exit %d\n", WEXITSTATUS(status));
    return 0;
}
