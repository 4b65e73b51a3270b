/* A backup copies a file with copy_file_range and sendfile while it is rewritten: half old, half new.
 * Expected: assertion. */
#define _GNU_SOURCE
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <sys/sendfile.h>

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *backup(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int from = open(in_folder("data"), O_RDONLY), to = open(in_folder("copy"), O_RDWR | O_CREAT, 0600);
    char text[8] = "";
    loff_t at = 0, out = 0;
    off_t half = 2;
    assert(copy_file_range(from, &at, to, &out, 2, 0) == 2);
    lseek(to, 2, SEEK_SET);
    assert(sendfile(to, from, &half, 2) == 2);
    assert(pread(to, text, 4, 0) == 4);
    assert(text[0] == text[3]);
    close(from);
    close(to);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *writer(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    put("data", "bbbb");
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    make_folder();
    put("data", "aaaa");
    RUN(backup, writer);
    unlink(in_folder("data"));
    unlink(in_folder("copy"));
    rmdir(folder);
    return 0;
}
