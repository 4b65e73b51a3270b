/* Handlers on an alternate stack of the least size, in threads of the least size; a page that nobody may touch lies
 * below both. A handler accesses, locks and allocates. */
#include "order.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int counter, under_lock, handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int racy;

static void *writer(void *arg)
{
    counter += 7;
    pthread_mutex_lock(&lock);
    under_lock++;
    pthread_mutex_unlock(&lock);
    step_done(0);
    return arg;
}

static void on_signal(int number)
{
    (void)number;
    if (racy)
        counter++;
    pthread_mutex_lock(&lock);
    under_lock++;
    pthread_mutex_unlock(&lock);
    char *block = malloc(40);
    block[3] = 1;
    handled += block[3];
    free(block);
}

static void *with_guard(size_t size)
{
    size_t page = 4096, whole = (size + page - 1) / page * page;
    char *at = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at, page, PROT_NONE);
    return at + page + whole - size; /* the guard right below where the size is one of pages */
}

/* Least sizes are no multiples of pages: an overflow runs into bytes that must stay as they are. */
static void check_below(const unsigned char *at)
{
    size_t n = (size_t)((unsigned long)at & 4095);
    for (size_t i = 1; i <= n; i++)
        if (at[-(long)i] != 0)
            fprintf(stderr, "overflow of the alternate stack\n"), _exit(5);
}

static void *tiny(void *arg)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) > 2048 ? (size_t)sysconf(_SC_MINSIGSTKSZ) : 2048;
    stack_t alternate = {.ss_sp = with_guard(size), .ss_size = size}, seen;
    if (sigaltstack(&alternate, NULL) != 0 || sigaltstack(NULL, &seen) != 0)
        _exit(3);
    if (seen.ss_sp != alternate.ss_sp || seen.ss_size != alternate.ss_size)
        _exit(4);
    wait_step(0);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    check_below(alternate.ss_sp);
    alternate.ss_flags = SS_DISABLE;
    if (sigaltstack(&alternate, &seen) != 0 || seen.ss_size != size || sigaltstack(NULL, &seen) != 0 ||
        !(seen.ss_flags & SS_DISABLE))
        _exit(4);
    raise(SIGUSR1); /* on the thread's own */
    return arg;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    pthread_attr_t attr;
    pthread_t t, w;
    racy = argc > 1 && strcmp(argv[1], "racy") == 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
    if (pthread_create(&t, &attr, tiny, NULL) != 0)
        return 3;
    pthread_join(t, NULL);
    pthread_join(w, NULL);
    printf("handled %d, under the lock %d\n", handled, under_lock);
    return 0;
}
