/* A spool folder is made and then filled; the cleaner removes it when it looks empty, and the filler fails.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *filler(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    assert(mkdir(in_folder("spool"), 0700) == 0);
    int fd = open(in_folder("spool/job"), O_CREAT | O_WRONLY, 0600);
    assert(fd >= 0);
    close(fd);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *cleaner(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    rmdir(in_folder("spool")); /* succeeds if it is empty */
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    make_folder();
    RUN(cleaner, filler);
    unlink(in_folder("spool/job"));
    rmdir(in_folder("spool"));
    rmdir(folder);
    return 0;
}
