// vfork, posix_spawn, popen and system: children run beside the program and give their status.
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
    int status = 0;
    pid_t p = vfork();
    if (p == 0) {
        execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(127);
    }
    waitpid(p, &status, 0);
    printf("vfork %d\n", WEXITSTATUS(status));
    char *argv[] = {"sh", "-c", "echo spawned; kill -TERM $$", NULL};
    fflush(stdout);
    int r = posix_spawnp(&p, "sh", NULL, NULL, argv, environ);
    waitpid(p, &status, 0);
    printf("spawn %d %d\n", r, WTERMSIG(status) == SIGTERM);
    FILE *f = popen("echo piped; exit 3", "r");
    char line[40] = "";
    if (!fgets(line, sizeof line, f))
        return 1;
    status = pclose(f);
    printf("%spopen %d\n", line, WEXITSTATUS(status));
    fflush(stdout);
    status = system("exit 8");
    printf("system %d\n", WEXITSTATUS(status));
    return 0;
}
