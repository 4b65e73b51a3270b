/* What a thread leaves behind: its stack and thread-local variables. Used by others after its end, and the cases in
 * which the memory is somebody's again. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 256 << 10 };

static __thread int per_thread;
static int *left_behind;
static sem_t done;

static void *leave_local(void *arg)
{
    int local = 7;
    left_behind = &local;
    __asm__ volatile("" : : "r"(&local) : "memory");
    return arg;
}

static void *leave_thread_local(void *arg)
{
    per_thread = 7;
    left_behind = &per_thread;
    return arg;
}

static void *use_deep(void *arg)
{
    int deep[8000];
    for (int i = 0; i < 8000; i++)
        deep[i] = i;
    __asm__ volatile("" : : "r"(deep) : "memory");
    per_thread++;
    if (arg)
        sem_post(&done);
    return arg;
}

static void run(void *(*routine)(void *), void *stack, void *arg)
{
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (stack && pthread_attr_setstack(&attr, stack, STACK) != 0)
        abort();
    if (arg)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&t, &attr, routine, arg) != 0)
        abort();
    if (arg)
        sem_wait(&done);
    else
        pthread_join(t, NULL);
}

static void fill(char *at)
{
    for (int i = 0; i < STACK; i++)
        at[i] = (char)i;
}

/* Its own, of the heap, after a join: the program's again, also for another thread. */
static void use_own_stack(void)
{
    char *stack = aligned_alloc(4096, STACK);
    for (int i = 0; i < 3; i++) {
        run(use_deep, stack, NULL);
        fill(stack);
    }
    free(stack);
}

/* libc keeps stacks for the next threads, and gives those that are too many back to whoever maps memory. */
static void use_again(void)
{
    pthread_t t[12];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 12; i++)
            pthread_create(&t[i], NULL, use_deep, NULL);
        for (int i = 0; i < 12; i++)
            pthread_join(t[i], NULL);
        for (int i = 0; i < 50; i++)
            run(use_deep, NULL, &done);
        char *block[40];
        for (int i = 0; i < 40; i++)
            fill(block[i] = malloc(1 << 20));
        char *mapped = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < (size_t)64 << 20; i += 512)
            mapped[i] = 1;
        munmap(mapped, 64 << 20);
        for (int i = 0; i < 40; i++)
            free(block[i]);
        void *library = dlopen("libm.so.6", RTLD_NOW);
        if (library)
            dlclose(library);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sem_init(&done, 0, 0);
    if (strcmp(what, "stack") == 0) {
        run(leave_local, NULL, NULL);
        printf("%d\n", *left_behind);
    } else if (strcmp(what, "tls") == 0) {
        run(leave_thread_local, NULL, NULL);
        *left_behind = 8;
    } else {
        use_own_stack();
        use_again();
    }
    puts("survived");
    return 0;
}
