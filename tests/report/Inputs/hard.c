/* Reports from hard places: a tiny stack, a signal handler, no processes or descriptors to be had, a closed shell. */
#include "order.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static int counter;

static void *writer(void *arg)
{
    counter += 7;
    step_done(0);
    return arg;
}

static void *reader(void *arg)
{
    if (counter != 7)
        abort();
    return arg;
}

static void on_signal(int number)
{
    (void)number;
    reader(NULL);
}

static void limit(int what)
{
    struct rlimit none = {0, 0};
    setrlimit(what, &none);
}

static void use_up_descriptors(void)
{
    while (dup(1) >= 0)
        ;
}

/* No new process and no exec: refused, not killed. */
static void shut_in(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Anything but writing, exiting and memory, which every program needs, is death. */
static void shut_in_for_good(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    reader(NULL);
    syscall(SYS_write, 1, "survived\n", 9);
    syscall(SYS_exit_group, 0);
}

static void on_tiny_stack(void)
{
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
    pthread_create(&t, &a, reader, NULL);
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    pthread_t t;
    const char *place = argc > 1 ? argv[1] : "";
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    if (strcmp(place, "signal") == 0) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    } else if (strcmp(place, "stack") == 0)
        on_tiny_stack();
    else if (strcmp(place, "descriptors") == 0)
        use_up_descriptors(), reader(NULL);
    else if (strcmp(place, "limit") == 0)
        limit(RLIMIT_NOFILE), reader(NULL);
    else if (strcmp(place, "seccomp") == 0)
        shut_in(), reader(NULL);
    else if (strcmp(place, "prison") == 0)
        shut_in_for_good();
    else if (strcmp(place, "stderr") == 0)
        close(2), reader(NULL);
    else
        reader(NULL);
    pthread_join(t, NULL);
    puts("survived");
    return 0;
}
