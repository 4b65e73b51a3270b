/* Files, offsets, descriptors, mappings and the heap are as before in every schedule; the file on disk is not touched.
 * before: printf 'first line\nsecond line\n' >data.txt
 * drive: --schedules=300
 * expect: ends: done 300$
 * after: test "$(cat data.txt)" = "$(printf 'first line\nsecond line')" && ! test -e made.txt */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *before;
static int log_fd, expected_fd;

static void *works(void *a)
{
    char line[64];
    if (!fgets(line, sizeof line, before) || strcmp(line, "first line\n"))
        abort();
    FILE *made = fopen("made.txt", "w");
    if (!made || fileno(made) != expected_fd)
        abort();
    fputs("made\n", made);
    fclose(made);
    made = fopen("made.txt", "r");
    if (!made || !fgets(line, sizeof line, made) || strcmp(line, "made\n"))
        abort();
    fclose(made);
    struct stat s;
    if (stat("made.txt", &s) || s.st_size != 5 || unlink("made.txt") || !stat("made.txt", &s))
        abort();
    if (lseek(log_fd, 0, SEEK_END) != 23 || write(log_fd, "more", 4) != 4 || lseek(log_fd, 0, SEEK_CUR) != 27)
        abort();
    close(log_fd);
    char *mapped = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mapped[4096])
        abort();
    mapped[4096] = 1;
    char *large = calloc(1, 8 << 20);
    if (!large || large[4 << 20])
        abort();
    large[4 << 20] = 1;
    free(large);
    munmap(mapped, 1 << 20);
    int ends[2];
    if (pipe(ends) || write(ends[1], "x", 1) != 1 || read(ends[0], line, 1) != 1)
        abort();
    return a;
}

int main(void)
{
    pthread_t t;
    before = fopen("data.txt", "r");
    log_fd = open("data.txt", O_RDWR);
    expected_fd = log_fd + 1;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    puts("done");
}
