/* Every schedule that begins in the middle finds memory, mappings, and the offset of a file as they were there: who
 * comes first reads the same byte in each.
 * before: printf 'abcdef' > letters
 * drive: --start=1 --start-least=500 --schedules=60 --strategy=random
 * expect: begun at step
 * expect: ends: done 60$ */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TURNS = 400 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int fd, turns, came;
static char *pages;

static void *reads(void *unused)
{
    char byte = 0;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&m);
        if (turns++ == 0 && (read(fd, &byte, 1) != 1 || byte != 'a'))
            abort();
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    if (read(fd, &byte, 1) != 1 || byte != (came ? 'c' : 'b') || pages[came])
        abort();
    pages[came++] = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    fd = open("letters", O_RDONLY);
    pages = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, reads, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return came != 2;
}
