/* Answers, errno, interruption and cancellation of functions that are interposed: printed, to be compared with the
 * program without a runtime. Some names are the program's own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int wait[10], mremap, shmat = 3;

static pthread_t main_thread;
static int fds[2];

static void say(const char *what, long answer)
{
    printf("%s: %ld %s\n", what, answer, errno ? strerror(errno) : "-");
    errno = 0;
}

static void on_signal(int signal)
{
    (void)signal;
}

/* As the kernel has it, of the first thread. */
static int main_waits(void)
{
    char text[256] = "";
    int f = open("/proc/self/stat", O_RDONLY);
    ssize_t n = read(f, text, sizeof text - 1);
    close(f);
    const char *name_ends = n > 0 ? strrchr(text, ')') : NULL;
    return name_ends && name_ends[2] == 'S';
}

static void *interrupt(void *unused)
{
    for (int seen = 0; seen < 5; seen = main_waits() ? seen + 1 : 0)
        usleep(5000);
    pthread_kill(main_thread, SIGUSR1);
    return unused;
}

static void *read_for_ever(void *unused)
{
    char c;
    for (;;)
        if (read(fds[0], &c, 1) < 0)
            return unused;
}

static void interruptions(void)
{
    struct sigaction action = {.sa_handler = on_signal}, old;
    pthread_t t;
    char c;
    say("sigaction", sigaction(SIGUSR1, &action, NULL));
    pthread_create(&t, NULL, interrupt, NULL);
    say("read", read(fds[0], &c, 1));
    pthread_join(t, NULL);
    say("asked", sigaction(SIGUSR1, NULL, &old));
    say("handler", old.sa_handler == on_signal);
    say("ignored", signal(SIGUSR1, SIG_IGN) == on_signal);
    say("default", signal(SIGUSR1, SIG_DFL) == SIG_IGN);
    say("sigkill", sigaction(SIGKILL, &action, NULL));
    say("signal 4711", signal(4711, on_signal) == SIG_ERR);
}

static void cancellation(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, read_for_ever, NULL);
    say("cancel", pthread_cancel(t));
    say("join", pthread_join(t, &result));
    say("cancelled", result == PTHREAD_CANCELED);
}

static void refusals(void)
{
    pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    struct timespec past = {0, 0}, wrong = {0, -1};
    sem_t s;
    say("write", write(-1, "x", 1));
    say("close", close(-1));
    say("dup2", dup2(-1, 5));
    say("open", open("/nowhere/at/all", O_RDONLY));
    say("accept", accept(fds[0], NULL, NULL));
    say("unlock", pthread_mutex_unlock(&m));
    say("lock", pthread_mutex_lock(&m));
    say("again", pthread_mutex_lock(&m));
    say("timed", pthread_mutex_timedlock(&m, &past));
    say("sem_init", sem_init(&s, 0, 0));
    say("sem_trywait", sem_trywait(&s));
    say("sem_timedwait", sem_timedwait(&s, &past));
    say("sem_timedwait wrong", sem_timedwait(&s, &wrong));
    say("strtol", strtol("99999999999999999999", NULL, 10));
    say("realloc", realloc(malloc(10), (size_t)1 << 62) != NULL);
    say("malloc", malloc((size_t)1 << 62) != NULL);
}

int main(void)
{
    main_thread = pthread_self();
    if (pipe(fds) != 0)
        return 1;
    interruptions();
    cancellation();
    refusals();
    errno = 7;
    free(strdup("text"));
    fclose(fopen("/dev/null", "w"));
    say("kept", errno);
    char text[64];
    snprintf(text, sizeof text, "%.3f %d %s %g", 1.5, 7, "seven", 1e100);
    puts(text);
    printf("%d %d %d\n", wait[0], mremap, shmat);
    return 0;
}
