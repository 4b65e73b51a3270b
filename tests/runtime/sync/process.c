/* Signals, handlers at exit, fork, libraries. Broken: the access is on the wrong side of what orders. */
#include "pair.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing(int o)
{
    (void)o;
}

static void touch(void)
{
    guarded++;
}

/* ---- signals ---- */

static void on_signal(int signal)
{
    (void)signal;
    touch();
}
static void on_signal_with_info(int signal, siginfo_t *info, void *context)
{
    CHECK(signal == SIGUSR1 && info->si_signo == SIGUSR1 && context);
    touch();
}

/* Before the handler is installed. */
static void install(int with_info)
{
    struct sigaction action = {.sa_handler = on_signal}, seen;
    if (with_info) {
        action.sa_sigaction = on_signal_with_info;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
    }
    if (!broken)
        touch();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(sigaction(SIGUSR1, NULL, &seen) == 0 && seen.sa_handler == action.sa_handler &&
          (seen.sa_flags & SA_SIGINFO) == (action.sa_flags & SA_SIGINFO));
    if (broken)
        touch();
}
static void install_plain(int o)
{
    (void)o;
    install(0);
}
static void install_with_info(int o)
{
    (void)o;
    install(1);
}
static void install_old_way(int o)
{
    (void)o;
    if (!broken)
        touch();
    CHECK(signal(SIGUSR1, on_signal) == SIG_DFL);
    CHECK(signal(SIGUSR1, on_signal) == on_signal);
    if (broken)
        touch();
}
static void raise_it(int o)
{
    (void)o;
    errno = 77;
    CHECK(raise(SIGUSR1) == 0 && errno == 77);
}

/* Before it is sent. The reader's thread is found waiting, in a call that the signal interrupts. */
static pthread_t receiver;
static void install_first(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}
static void block_it(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}
/* However early it comes, it is taken where it is waited for. */
static void be_interrupted(int o)
{
    sigset_t none;
    (void)o;
    sigemptyset(&none);
    block_it();
    receiver = pthread_self();
    invisible_say(STEP);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
}
static pthread_t the_receiver(void)
{
    pthread_t t;
    invisible_await(STEP);
    __asm__("mov %1, %0" : "=r"(t) : "m"(receiver));
    return t;
}
static void send_it(int o)
{
    (void)o;
    pthread_t t = the_receiver();
    if (!broken)
        touch();
    CHECK(pthread_kill(t, SIGUSR1) == 0);
    if (broken)
        touch();
}
static void kill_self(int o)
{
    (void)o;
    if (!broken)
        touch();
    CHECK(kill(getpid(), SIGUSR1) == 0);
    if (broken)
        touch();
}
static void wait_for_signal(int o)
{
    sigset_t set;
    int got;
    (void)o;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigwait(&set, &got) == 0 && got == SIGUSR1);
    touch();
}

/* A jump out of the handler, out of a call that waits: the thread goes on, and may wait again. */
static sigjmp_buf back;
static void jump(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void mask_alarm(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}
static void leave_alarm_to_reader(void)
{
    mask_alarm(SIG_BLOCK);
}
static void jump_out_of_wait(int o)
{
    mask_alarm(SIG_UNBLOCK);
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0) {
            ualarm(1000, 0);
            for (;;)
                pause();
        }
    if (!o)
        pthread_mutex_lock(&m);
    touch();
    if (!o)
        pthread_mutex_unlock(&m);
    pthread_exit(NULL);
}
static void write_locked(int o)
{
    (void)o;
    pthread_mutex_lock(&m);
    touch();
    pthread_mutex_unlock(&m);
}

/* ---- at exit: whoever registered comes before the handler, which the main thread runs. Broken: after ---- */

static void at_end(void)
{
    touch();
}
static void at_end_with(int status, void *argument)
{
    CHECK(status == 0 && argument == &guarded);
    touch();
}
static int register_posix(void)
{
    return atexit(at_end);
}
static int register_gnu(void)
{
    return on_exit(at_end_with, &guarded);
}
static int register_quick(void)
{
    return at_quick_exit(at_end);
}
/* The thread is not joined: the process ends while it waits. */
static void register_unjoined(int (*f)(void))
{
    if (!broken)
        touch();
    CHECK(f() == 0);
    if (broken)
        touch();
    invisible_say(STEP);
    for (;;)
        pause();
}
static void leave_quickly(int o)
{
    (void)o;
    invisible_await(STEP);
    quick_exit(0);
}
static void leave(int o)
{
    (void)o;
    invisible_await(STEP);
    exit(0);
}
#define REGISTERS(name)                                                                                                \
    static void do_##name(int o)                                                                                       \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        register_unjoined(name);                                                                                       \
    }
REGISTERS(register_posix)
REGISTERS(register_gnu)
REGISTERS(register_quick)

/* ---- fork: what was before is before in the child, and both go on being watched ---- */

static void *touch_in_thread(void *unused)
{
    if (!broken)
        pthread_mutex_lock(&m);
    touch();
    invisible_say(STEP);
    if (!broken)
        pthread_mutex_unlock(&m);
    return unused;
}
static void fork_and_touch(int o)
{
    int status;
    touch();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pthread_t t;
        touch();
        CHECK(pthread_create(&t, NULL, touch_in_thread, NULL) == 0);
        invisible_await(STEP);
        if (!o)
            pthread_mutex_lock(&m);
        touch();
        if (!o)
            pthread_mutex_unlock(&m);
        CHECK(pthread_join(t, NULL) == 0);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    _exit(WEXITSTATUS(status));
}

/* vfork's child lives in our memory until it execs. */
static void vfork_and_touch(int o)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(9);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (o)
        touch();
    else
        write_locked(o);
}

/* ---- libraries: loaded by two threads, the constructors come first for both ---- */

static void open_library(int o)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library && dlsym(library, "cos"));
    CHECK(dlclose(library) == 0);
    if (o)
        touch();
    else
        write_locked(o);
}

static const struct pair pairs[] = {
    {"sigaction", NULL, install_plain, raise_it, 0},
    {"sigaction-info", NULL, install_with_info, raise_it, 0},
    {"signal", NULL, install_old_way, raise_it, 0},
    {"pthread_kill", install_first, send_it, be_interrupted, TOGETHER},
    {"sigwait", block_it, kill_self, wait_for_signal, TOGETHER},
    {"siglongjmp", leave_alarm_to_reader, write_locked, jump_out_of_wait, 0},
    {"atexit", NULL, do_register_posix, leave, TOGETHER},
    {"on_exit", NULL, do_register_gnu, leave, TOGETHER},
    {"at_quick_exit", NULL, do_register_quick, leave_quickly, TOGETHER},
    {"fork", NULL, nothing, fork_and_touch, 0},
    {"vfork", NULL, write_locked, vfork_and_touch, 0},
    {"dlopen", NULL, write_locked, open_library, 0},
};
PAIRS_MAIN(pairs)
