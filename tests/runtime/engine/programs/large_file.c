/* A file of 400 MB is changed in one place by each schedule, and another one only read though open for writing: the real
 * ones stay as they are, and every schedule finds them so.
 * before: truncate -s 400M changed read; echo mark | dd of=changed bs=1 seek=300000000 conv=notrunc status=none
 * drive: --schedules=200
 * expect: ends: done 200
 * refuse: assertion|crash|cannot
 * after: test "$(tail -c +300000001 changed | head -c 4)" = mark
 * after: test "$(stat -c %b read)" = 0 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { AT = 300000000 };

static void *changer(void *arg)
{
    char text[5] = "";
    int fd = open("changed", O_RDWR), other = open("read", O_RDWR);
    assert(pread(fd, text, 4, AT) == 4 && !strcmp(text, "mark"));
    assert(pwrite(fd, "more", 4, AT) == 4 && pread(fd, text, 4, AT) == 4 && !strcmp(text, "more"));
    assert(read(other, text, 4) == 4 && !text[0]);
    assert(ftruncate(fd, 10) == 0 && lseek(fd, 0, SEEK_END) == 10);
    close(fd);
    close(other);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, changer, NULL);
    pthread_join(t, NULL);
}
