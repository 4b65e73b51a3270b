/* A child inherits the write end of another thread's pipe: the reader of that pipe waits for an end that comes late.
 * Expected: race on `lines`. */
#include "threads.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int lines;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *reader(void *arg)
{
    char text[32];
    FILE *from = popen("echo line", "r");
    if (!from)
        return NULL;
    while (fgets(text, sizeof text, from)) {
#ifdef FIXED
        pthread_mutex_lock(&lock);
#endif
        lines++;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
    }
    pclose(from);
    return arg;
}

int main(void)
{
    RUN(reader, reader);
    return lines > 2;
}
