/* One thread lists the folder and opens what it saw; another one renames a file meanwhile.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <dirent.h>

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *lister(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        char text[8];
        if (e->d_name[0] != '.')
            assert(fetch(e->d_name, text, sizeof text) >= 0);
    }
    closedir(d);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *renamer(void *arg)
{
    char to[128];
    strcpy(to, in_folder("done"));
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    rename(in_folder("job"), to);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    make_folder();
    put("job", "x");
    RUN(lister, renamer);
    unlink(in_folder("done"));
    rmdir(folder);
    return 0;
}
