/* A read-then-write race after Flanagan and Freund, Figure 4.
 * Readers read x and then count themselves in y; the writer waits for y and only then writes x. The read always
 * comes first in time, yet nothing orders it before the write: y is relaxed, so the two accesses of x race. The
 * assertion r == 0 could only fail if a read saw a write that has not happened yet; Java's model allows that, the
 * progressive model and RC11 do not. With y released and acquired the race is gone. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 64

#ifdef FIXED
#define RELEASE memory_order_release
#define ACQUIRE memory_order_acquire
#else
#define RELEASE memory_order_relaxed
#define ACQUIRE memory_order_relaxed
#endif

struct reader {
    pthread_t thread;
    int r;
};

static int x;
static atomic_int y;
static int readers;

static void *reader_run(void *arg)
{
    struct reader *me = arg;
    me->r = x;
    atomic_fetch_add_explicit(&y, 1, RELEASE);
    return NULL;
}

static void *writer_run(void *arg)
{
    (void)arg;
    while (atomic_load_explicit(&y, ACQUIRE) != readers)
        sched_yield();
    x = 1;
    return NULL;
}

/* The program as printed, with more than one reader if wished; returns how many assertions failed. */
static long run_once(struct reader *crowd)
{
    pthread_t writer;
    long failed = 0;
    x = 0;
    atomic_store(&y, 0);
    if (pthread_create(&writer, NULL, writer_run, NULL))
        exit(2);
    for (int i = 0; i < readers; i++)
        if (pthread_create(&crowd[i].thread, NULL, reader_run, &crowd[i]))
            exit(2);
    pthread_join(writer, NULL);
    for (int i = 0; i < readers; i++) {
        pthread_join(crowd[i].thread, NULL);
        failed += crowd[i].r != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    struct reader crowd[MAX_THREADS];
    int threads = 2, option;
    long rounds = 50, failed = 0;
    while ((option = getopt(argc, argv, "t:n:h")) != -1) {
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else {
            printf("usage: readwrite [-t threads (2..%d)] [-n rounds]\n", MAX_THREADS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (threads < 2 || threads > MAX_THREADS || rounds < 0)
        return fprintf(stderr, "readwrite: bad number of threads or rounds\n"), 2;
    readers = threads - 1;
    for (long r = 0; r < rounds; r++)
        failed += run_once(crowd);
    if (failed)
        printf("FAILED: %ld readers saw a write that came after them\n", failed);
    else
        printf("ok\n");
    return failed != 0;
}
