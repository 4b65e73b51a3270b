/* A stack that overflows is the program's own end, or its handler's affair. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int depth;
static sigjmp_buf back;

static int deeper(int n)
{
    volatile int local = n;
    depth = n;
    return deeper(n + 1) + local;
}

static int deep(int n)
{
    volatile int local = n;
    return n ? deep(n - 1) + local : 0;
}

static void on_overflow(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void *in_thread(void *arg)
{
    stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&alternate, NULL);
    if (sigsetjmp(back, 1) == 0)
        deeper(0);
    printf("came back from %s\n", depth > 1000 ? "deep" : "nowhere");
    printf("%d\n", deep(1000));
    return arg;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "caught") == 0) {
        struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
        pthread_t t;
        sigaction(SIGSEGV, &action, NULL);
        pthread_create(&t, NULL, in_thread, NULL);
        pthread_join(t, NULL);
        return 0;
    }
    return deeper(0);
}
