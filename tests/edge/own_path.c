// A program that asks where it is, to find its data beside itself: by readlink, realpath, its process id.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char link[PATH_MAX] = "", by_pid[PATH_MAX] = "", name[64], small[5] = "....";
    (void)argc;
    char *started = realpath(argv[0], NULL), *resolved = realpath("/proc/self/exe", NULL);
    ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
    snprintf(name, sizeof name, "/proc/%d/exe", (int)getpid());
    ssize_t m = readlinkat(-1, name, by_pid, sizeof by_pid - 1);
    printf("%d %d %d\n", strcmp(started, link), strcmp(started, resolved), strcmp(started, by_pid));
    printf("%d %d\n", n == (ssize_t)strlen(link), n == m);
    printf("%zd %d\n", readlink("/proc/self/exe", small, 3), small[3] == '.' && strncmp(small, link, 3) == 0);
    printf("%d\n", getenv("DEADHEAT_PROGRAM") == NULL);
    free(started);
    free(resolved);
    return 0;
}
