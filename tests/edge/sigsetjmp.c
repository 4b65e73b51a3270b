// sigsetjmp/siglongjmp out of a SIGSEGV handler, mask restored, many times.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t faults;
static char *volatile fault_address;

static void handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    faults++;
    fault_address = info->si_addr;
    siglongjmp(back, 1);
}

int main(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + page, (size_t)page, PROT_NONE);
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &sa, NULL);
    for (volatile int i = 0; i < 100; i++)
        if (!sigsetjmp(back, 1)) {
            p[page - 50 + i] = (char)i;
        }
    printf("%d faults, last at +%td, kept %d\n", faults, fault_address - p - page, p[page - 1]);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    printf("blocked: %d\n", sigismember(&now, SIGSEGV));
    return 0;
}
