/* A list of jobs that is added to before its lock is taken: the lock orders nearly all runs, and only a worker that is
 * busy with an earlier job meets the next one. Expected: race on `head` at `adds` and `takes`. */
#include "threads.h"

#include <stdlib.h>

struct job {
    struct job *next;
    int what;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static struct job *head;
static int pending, over, done;

static void submit(int what)
{
    struct job *j = malloc(sizeof *j);
    j->what = what;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    j->next = head; /* adds */
    head = j;
#ifndef FIXED
    pthread_mutex_lock(&lock);
#endif
    pending++;
    pthread_cond_signal(&come);
    pthread_mutex_unlock(&lock);
}

static struct job *take(void)
{
    struct job *j = head;
    if (j)
        head = j->next; /* takes */
    pending--;
    return j;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!pending && !over)
            pthread_cond_wait(&come, &lock);
        if (!pending)
            break;
        struct job *j = take();
        pthread_mutex_unlock(&lock);
        done += j ? j->what : 0;
        free(j);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        submit(i);
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_signal(&come);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    return 0;
}
