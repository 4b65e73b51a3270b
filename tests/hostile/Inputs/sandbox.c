/* A program that shuts itself in: what the runtime does beside it must not be its end. By prctl, by the system call,
 * and in strict mode; with races, descriptors that were never looked at, and threads that begin inside. */
#include "order.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter, late;
static int ends[2];

static void *writer(void *arg)
{
    counter += 7;
    step_done(0);
    return arg;
}

/* What this program and libc need for it, and nothing else. */
static const int allowed[] = {SYS_read,           SYS_write,      SYS_exit,     SYS_exit_group,      SYS_rt_sigreturn,
                              SYS_mmap,           SYS_munmap,     SYS_mprotect, SYS_madvise,         SYS_brk,
                              SYS_futex,          SYS_clone3,     SYS_clone,    SYS_set_robust_list, SYS_rseq,
                              SYS_rt_sigprocmask, SYS_sched_yield};
enum { N = sizeof allowed / sizeof *allowed };

static void shut_in(int by_prctl)
{
    struct sock_filter rules[N + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (unsigned i = 0; i < N; i++)
        rules[i + 1] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], (unsigned char)(N - i), 0);
    rules[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    rules[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {N + 3, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long failed = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                           : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (failed)
        abort();
}

static void *begin_late(void *arg)
{
    late++;
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
    late++;
    return arg;
}

static void use_pipe(void)
{
    pthread_t t;
    pthread_create(&t, NULL, begin_late, NULL);
    if (write(ends[1], "x", 1) != 1)
        abort();
    pthread_join(t, NULL);
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        abort();
}

int main(int argc, char **argv)
{
    pthread_t t;
    int racy = argc > 2 && strcmp(argv[2], "racy") == 0;
    if (syscall(SYS_pipe2, ends, 0) != 0)
        return 3;
    pthread_create(&t, NULL, writer, NULL);
    if (racy)
        wait_step(0);
    else
        pthread_join(t, NULL);
    if (strcmp(argv[1], "strict") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
        counter++;
        say("survived\n");
        syscall(SYS_exit, 0);
    }
    if (strcmp(argv[1], "asks") == 0) /* only whether it could be */
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0), syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    else
        shut_in(strcmp(argv[1], "prctl") == 0);
    counter++;
    use_pipe();
    say("survived\n");
    return 0;
}
