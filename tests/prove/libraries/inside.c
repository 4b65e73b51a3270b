/* All is in the library, threads too; the program is a call.
 * Expected: race on `struct job.done` at `sets` and `looks`. */
#ifdef LIBRARY_1
#include <pthread.h>
#include <stdlib.h>
struct job {
    pthread_mutex_t lock;
    int done;
};
static void *work(void *arg)
{
    struct job *job = arg;
    pthread_mutex_lock(&job->lock);
    job->done = 1; /* sets */
    pthread_mutex_unlock(&job->lock);
    return arg;
}
int run_job(void);
int run_job(void)
{
    struct job *job = calloc(1, sizeof *job);
    pthread_t t;
    pthread_mutex_init(&job->lock, NULL);
    pthread_create(&t, NULL, work, job);
#ifdef FIXED
    pthread_mutex_lock(&job->lock);
#endif
    int done = job->done; /* looks */
#ifdef FIXED
    pthread_mutex_unlock(&job->lock);
#endif
    pthread_join(t, NULL);
    free(job);
    return done > 1;
}
#else
int run_job(void);
int main(void)
{
    return run_job();
}
#endif
