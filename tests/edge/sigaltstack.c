// Stack overflow caught on an alternate signal stack, left by siglongjmp.
// FLAGS: -Wno-infinite-recursion
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static sigjmp_buf back;
static volatile int on_alternate;
static char *alternate;
enum { SIZE = 1 << 16 };

static void handler(int sig)
{
    (void)sig;
    char here;
    char *volatile p = &here;
    on_alternate = p >= alternate && p < alternate + SIZE;
    siglongjmp(back, 1);
}
static __attribute__((noinline)) int overflow(int n)
{
    volatile char pad[4096];
    pad[n & 4095] = (char)n;
    return overflow(n + 1) + pad[(n + 1) & 4095];
}

int main(void)
{
    struct rlimit small = {1 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &small);
    alternate = malloc(SIZE);
    stack_t ss = {.ss_sp = alternate, .ss_size = SIZE};
    sigaltstack(&ss, NULL);
    struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &sa, NULL);
    for (volatile int i = 0; i < 3; i++) {
        if (!sigsetjmp(back, 1))
            printf("%d\n", overflow(0));
        printf("caught, on the alternate stack: %d\n", on_alternate);
    }
    return 0;
}
