/* A thread closes every number there could be, as daemons do: what the engine has open stays open, and files go on.
 * drive: --schedules=100
 * expect: ends: done 100
 * refuse: assertion|crash|cannot */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static int before;

static void *closer(void *arg)
{
    struct rlimit limit;
    char byte = 0;
    int fd = open("made", O_RDWR | O_CREAT, 0600);
    assert(write(fd, "x", 1) == 1);
    assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < (int)limit.rlim_cur + 100; i++)
        close(i);
    assert(write(before, "x", 1) == -1);
    fd = open("made", O_RDWR);
    assert(fd == 0 && read(fd, &byte, 1) == 1 && byte == 'x');
    assert(dup2(fd, (int)limit.rlim_cur) == -1);
    return arg;
}

int main(void)
{
    pthread_t t;
    before = open("before", O_RDWR | O_CREAT, 0600);
    pthread_create(&t, NULL, closer, NULL);
    pthread_join(t, NULL);
}
