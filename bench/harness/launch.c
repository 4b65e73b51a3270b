/* Starts a program, waits for it and writes what it used: CPU microseconds, peak KiB, wait status. A process of its
 * own, because on Linux the peak memory of a child starts at its parent's, and the bench is written in Python. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long microseconds(struct timeval t)
{
    return t.tv_sec * 1000000LL + t.tv_usec;
}

static int write_result(const char *path, const struct rusage *use, int status)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return 1;
    fprintf(out, "%lld %ld %d\n", microseconds(use->ru_utime) + microseconds(use->ru_stime), use->ru_maxrss, status);
    return fclose(out) != 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: launch RESULT PROGRAM [ARG...]\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "launch: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    signal(SIGTERM, SIG_IGN); /* meant for the program; this one stays to tell how it ended */
    int status;
    struct rusage use;
    if (child < 0 || wait4(child, &status, 0, &use) != child)
        return 1;
    return write_result(argv[1], &use, status);
}
