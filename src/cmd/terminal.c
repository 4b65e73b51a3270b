#include "cmd/terminal.h"

#include "host/activity.h"
#include "host/deadline.h"
#include "host/notice.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned dh_terminal_width(int fd, unsigned otherwise)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : otherwise;
}

#define LINE_EVERY 10000000000ull

bool dh_terminal_line_is_due(void)
{
    static uint64_t last_ns;
    uint64_t now = dh_now_ns();
    bool first = !last_ns, due = !first && now - last_ns >= LINE_EVERY && !isatty(STDERR_FILENO);
    last_ns = first || due ? now : last_ns;
    return due;
}

/* Without a terminal, a line now and then. */
static void say_activity(const char *line)
{
    if (line && dh_terminal_line_is_due())
        dh_notice("so far: %s", line);
}

static void show_activity(const char *line)
{
    fprintf(stderr, "\r\033[K%.*s", (int)dh_terminal_width(STDERR_FILENO, 80) - 1, line ? line : "");
    fflush(stderr);
}

void dh_terminal_show_activity(void)
{
    dh_activity_show_by(isatty(STDERR_FILENO) ? show_activity : say_activity);
    dh_terminal_line_is_due(); /* from now on */
}

static volatile sig_atomic_t asked_to_stop;
static struct sigaction old_int, old_term;

static void stop_soon(int signal)
{
    (void)signal;
    if (asked_to_stop++)
        _exit(130);
}

void dh_interrupts_begin(void)
{
    struct sigaction stop = {.sa_handler = stop_soon};
    sigaction(SIGINT, &stop, &old_int);
    sigaction(SIGTERM, &stop, &old_term);
}

void dh_interrupts_end(void)
{
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
}

bool dh_interrupted(void *arg)
{
    (void)arg;
    return asked_to_stop;
}
