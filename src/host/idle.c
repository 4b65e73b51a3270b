#include "host/idle.h"

#include "base/hash.h"
#include "host/offspring.h"
#include "host/reach.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of a processor: threads that only look around now and then use less. */
enum { BUSY_PERCENT = 2, TICKS_SPARE = 1 };

/* ---- calls ---- */

/* How a call says that it ends by itself: the argument is no null pointer, or as an int not negative. */
enum limit { NEVER, ALWAYS, POINTER, NUMBER };

static const struct call {
    long number;
    const char *name;
    enum limit limit;
    unsigned argument;
    enum dh_waiting without;
} calls[] = {
    {SYS_futex, "futex", POINTER, 3, DH_WAITING_FOR_EACH_OTHER},
    {SYS_wait4, "wait4", NEVER, 0, DH_WAITING_FOR_EACH_OTHER},
    {SYS_waitid, "waitid", NEVER, 0, DH_WAITING_FOR_EACH_OTHER},
    {SYS_nanosleep, "nanosleep", ALWAYS, 0, 0},
    {SYS_clock_nanosleep, "clock_nanosleep", ALWAYS, 0, 0},
    {SYS_poll, "poll", NUMBER, 2, DH_WAITING_FOR_OUTSIDE},
    {SYS_ppoll, "ppoll", POINTER, 2, DH_WAITING_FOR_OUTSIDE},
    {SYS_select, "select", POINTER, 4, DH_WAITING_FOR_OUTSIDE},
    {SYS_pselect6, "pselect", POINTER, 4, DH_WAITING_FOR_OUTSIDE},
    {SYS_epoll_wait, "epoll_wait", NUMBER, 3, DH_WAITING_FOR_OUTSIDE},
    {SYS_epoll_pwait, "epoll_pwait", NUMBER, 3, DH_WAITING_FOR_OUTSIDE},
    {SYS_rt_sigtimedwait, "sigwait", POINTER, 2, DH_WAITING_FOR_OUTSIDE},
    {SYS_rt_sigsuspend, "sigsuspend", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_pause, "pause", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_read, "read", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_readv, "readv", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_write, "write", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_accept, "accept", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_accept4, "accept", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_connect, "connect", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_recvfrom, "recv", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_recvmsg, "recvmsg", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_sendto, "send", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_sendmsg, "sendmsg", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_flock, "flock", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
    {SYS_fcntl, "fcntl", NEVER, 0, DH_WAITING_FOR_OUTSIDE},
};

static const struct call *known_call(long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

bool dh_wait_call_of(pid_t process, pid_t thread, struct dh_wait_call *out)
{
    char path[80];
    uint64_t *a = out->arguments;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)process, (int)thread);
    FILE *f = fopen(path, "re");
    bool is_in =
        f &&
        fscanf(f, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
               &out->number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &out->stack, &out->code) == 9;
    if (f)
        fclose(f);
    return is_in && out->number >= 0;
}

enum dh_waiting dh_wait_call_kind(const struct dh_wait_call *c)
{
    const struct call *k = known_call(c->number);
    uint64_t limit = k ? c->arguments[k->argument] : 0;
    bool ends = k && (k->limit == ALWAYS || (k->limit == POINTER && limit) || (k->limit == NUMBER && (int)limit >= 0));
    return !k ? DH_WAITING_FOR_OUTSIDE : ends ? DH_WAITING_FOR_TIME : k->without;
}

bool dh_wait_call_is_known(const struct dh_wait_call *c)
{
    return known_call(c->number);
}

bool dh_wait_call_is_on_memory(const struct dh_wait_call *c)
{
    return c->number == SYS_futex;
}

bool dh_wait_call_is_on_descriptor(const struct dh_wait_call *c)
{
    static const long numbers[] = {SYS_read,     SYS_readv,   SYS_write,  SYS_accept,  SYS_accept4, SYS_connect,
                                   SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_flock,   SYS_fcntl};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == c->number)
            return true;
    return false;
}

const char *dh_wait_call_name(const struct dh_wait_call *c)
{
    const struct call *k = known_call(c->number);
    return k ? k->name : "a system call";
}

/* ---- processes ---- */

/* Clock ticks of all its threads, in the program and in the kernel. */
static uint64_t ticks_of(pid_t process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    uint64_t user = 0, kernel = 0;
    const char *rest = strrchr(text, ')');
    if (rest &&
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user, &kernel) != 2)
        return 0;
    return user + kernel;
}

/* It may wait for another one of us, which works for both. */
static bool is_tool(pid_t process)
{
    char path[64], its[PATH_MAX], ours[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    ssize_t n = readlink(path, its, sizeof its), m = readlink("/proc/self/exe", ours, sizeof ours);
    return n > 0 && n == m && memcmp(its, ours, (size_t)n) == 0;
}

static uint64_t hash_of_threads(const dh_pids *all)
{
    dh_pids threads = {0};
    for (size_t k = 1; k < all->n; k++)
        dh_threads_of(all->at[k], &threads);
    uint64_t hash = dh_hash_bytes(threads.at, threads.n * sizeof *threads.at);
    dh_vec_release(&threads);
    return hash;
}

static struct dh_idle state_of(pid_t of, uint64_t now_ns)
{
    dh_pids all = {0};
    struct dh_idle now = {.since_ns = now_ns};
    dh_offspring(of, &all);
    bool works = all.n < 2;
    for (size_t k = 1; k < all.n; k++) {
        now.ticks += ticks_of(all.at[k]);
        works |= is_tool(all.at[k]);
    }
    now.threads = works ? 0 : hash_of_threads(&all);
    dh_vec_release(&all);
    return now;
}

bool dh_idle_is_alone(pid_t of)
{
    dh_pids all = {0};
    dh_offspring(of, &all);
    bool alone = all.n > 1;
    for (size_t k = 1; k < all.n; k++)
        alone &= !is_tool(all.at[k]);
    dh_vec_release(&all);
    return alone;
}

uint64_t dh_idle_look(struct dh_idle *i, pid_t of, uint64_t now_ns)
{
    uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    struct dh_idle now = state_of(of, now_ns);
    uint64_t allowed = i->ticks + TICKS_SPARE + (now_ns - i->since_ns) * second / 1000000000u * BUSY_PERCENT / 100;
    if (i->threads && now.threads == i->threads && now.ticks >= i->ticks && now.ticks <= allowed)
        return now_ns - i->since_ns;
    *i = now;
    return 0;
}

bool dh_thread_is_ours(pid_t process, pid_t thread)
{
    static const char ours[] = "deadheat\n";
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
    FILE *f = thread != process ? fopen(path, "re") : NULL;
    bool is_ours = f && fgets(name, sizeof name, f) && strcmp(name, ours) == 0;
    if (f)
        fclose(f);
    return is_ours;
}

/* Of one that runs just now: it looks around. */
static enum dh_waiting waiting_of(const struct dh_reach *r, pid_t process, pid_t thread)
{
    struct dh_wait_call c;
    return dh_wait_call_of(process, thread, &c) ? dh_reach_of(r, process, &c) : DH_WAITING_FOR_TIME;
}

enum dh_waiting dh_idle_waiting(pid_t of)
{
    dh_pids all = {0}, threads = {0};
    struct dh_reach reach;
    enum dh_waiting most = DH_WAITING_NOT;
    dh_offspring(of, &all);
    dh_reach_init(&reach, &all);
    for (size_t k = 1; k < all.n; k++) {
        threads.n = 0;
        dh_threads_of(all.at[k], &threads);
        for (size_t t = 0; t < threads.n; t++) {
            enum dh_waiting w = dh_thread_is_ours(all.at[k], threads.at[t])
                                    ? DH_WAITING_NOT
                                    : waiting_of(&reach, all.at[k], threads.at[t]);
            most = w > most ? w : most;
        }
    }
    dh_reach_release(&reach);
    dh_vec_release(&threads);
    dh_vec_release(&all);
    return most;
}
