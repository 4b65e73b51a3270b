/* Starts itself again as another user, whose processes cannot read what the first one's can. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        puts("started again");
        return 7;
    }
    pid_t child = fork();
    if (child == 0) {
        char self[4096] = "";
        if (readlink("/proc/self/exe", self, sizeof self - 1) > 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execl(self, "dropping", NULL);
        _exit(99);
    }
    int status;
    if (waitpid(child, &status, 0) != child)
        return 98;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}
