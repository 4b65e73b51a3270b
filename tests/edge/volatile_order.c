// Volatile accesses of every width happen exactly as written, seen by a page-fault counter.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static volatile char *page;
static volatile sig_atomic_t faults;

static void count(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    faults++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100; /* one step, then trap */
    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}
static void step(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    mprotect((void *)page, 4096, PROT_NONE);
}

int main(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[100] = 9;
    struct sigaction sa = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &sa, NULL);
    sa.sa_sigaction = step;
    sigaction(SIGTRAP, &sa, NULL);
    mprotect((void *)page, 4096, PROT_NONE);
    int sum = 0;
    sum += page[100];
    sum += page[100];
    *(volatile int16_t *)(page + 2) = 5;
    *(volatile int64_t *)(page + 8) = 6;
    sum += (int)*(volatile int64_t *)(page + 8);
    (void)page[0];
    printf("%d faults, sum %d\n", faults, sum);
    return 0;
}
