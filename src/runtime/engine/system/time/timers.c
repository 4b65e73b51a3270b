#include "runtime/engine/system/time/timers.h"

#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>

#define SECOND 1000000000ull
enum {
    INTERVAL_TIMERS = 3, /* the first ones: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
    TIMERS = 128,
    SPACING = 32,           /* steps between two expirations of a periodic one */
    IDLE_MOST = 256,        /* expirations in a schedule because nothing else could happen */
    GRACE_SECONDS = 10,     /* by which a deadly one is late, since schedules are slow */
    WATCHDOG_ENDS = 4,      /* so often a handler that never returned ended the process */
    FIRST_NUMBER = 1 << 20, /* above those of the kernel */
    ANY_TASK = UINT32_MAX,
};

static struct {
    struct timer {
        bool is_used, is_armed, has_thread; /* its function gets a thread */
        int id, signal, code;               /* signal 0: none */
        uint32_t task, fired;               /* to which it is sent; step of the latest expiration */
        clockid_t clock;
        union sigval value;
        uint64_t expiry, interval;
        int overrun;
    } at[TIMERS];
    unsigned n, armed; /* `n`: above those that were ever used */
    unsigned idle;     /* expirations so far because nothing else could happen */
    bool hurries;
    uint64_t early; /* signals of timers whose latest expiration came before its time */
} timers;

/* What the search has seen of handlers that ran for a timer; lasting. */
static struct handlers {
    bool returns[DH_SIGNALS];
    unsigned ends[DH_SIGNALS];
} *handlers;

/* ---- expiring ---- */

bool dh_timers_are_armed(void)
{
    return timers.armed;
}

static void disarm(struct timer *t)
{
    timers.armed -= t->is_armed;
    t->is_armed = false;
}

static void arm(struct timer *t, uint64_t expiry, uint64_t interval)
{
    disarm(t);
    t->expiry = expiry;
    t->interval = interval;
    t->fired = 0;
    t->overrun = 0;
    t->is_armed = true;
    timers.armed++;
    if (t->signal)
        dh_signals_order_before(t->signal);
}

static struct dh_task *receiver(const struct timer *t)
{
    return t->task == ANY_TASK ? NULL : &dh_engine->tasks[t->task];
}

static bool is_blocked_by_all(int signal)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (!dh_engine->actors[i].ended && !dh_engine->tasks[i].is_daemon &&
            !(dh_engine->tasks[i].mask & dh_signal_bit(signal)))
            return false;
    return true;
}

/* Its handler was only ever seen to end the process. */
static bool is_watchdog(int signal)
{
    bool is_known = dh_engine->flags & DH_ENGINE_WATCHDOGS || handlers->ends[signal] >= WATCHDOG_ENDS;
    return is_known && dh_signals_is_handled(signal);
}

static bool is_deadly(const struct timer *t)
{
    return t->signal && (dh_signals_is_deadly(t->signal) || is_watchdog(t->signal)) && !is_blocked_by_all(t->signal);
}

static void note_whether_early(const struct timer *t)
{
    uint64_t bit = dh_signal_bit(t->signal);
    bool early = !timers.hurries && dh_engine->now_ns < t->expiry + GRACE_SECONDS * SECOND;
    timers.early = early ? timers.early | bit : timers.early & ~bit;
}

static void expire(struct timer *t)
{
    siginfo_t info;
    dh_bytes_zero(&info, sizeof info);
    info.si_code = t->code;
    info.si_value = t->value;
    info.si_timerid = t->id;
    struct dh_task *to = receiver(t);
    if (t->signal) {
        note_whether_early(t);
        dh_signals_raise(to, t->signal, &info);
    }
    t->fired = dh_engine->depth;
    if (t->interval)
        t->expiry += t->interval;
    else
        disarm(t);
}

/* A deadly one is the program's own watchdog: that schedules are slow must not end them. */
static bool has_expired(const struct timer *t, uint64_t now)
{
    return t->is_armed && !t->has_thread && now >= t->expiry + (is_deadly(t) ? GRACE_SECONDS * SECOND : 0);
}

void dh_timers_advance(uint64_t now)
{
    for (unsigned i = 0; timers.armed && i < timers.n; i++) {
        struct timer *t = &timers.at[i];
        for (unsigned n = 0; has_expired(t, now); n++) {
            if (n)
                t->overrun++;
            expire(t);
            if (t->interval && n > SPACING)
                t->expiry = now + t->interval;
        }
    }
}

/* ---- handlers that end the process ---- */

bool dh_timers_init(void)
{
    handlers = dh_keep_lasting(sizeof *handlers);
    return handlers;
}

void dh_timers_handler_returned(int signal)
{
    handlers->returns[signal] = true;
    handlers->ends[signal] = 0;
}

bool dh_timers_handler_ended(int signal)
{
    if (handlers->returns[signal] || !(timers.early & dh_signal_bit(signal)))
        return false;
    if (++handlers->ends[signal] >= WATCHDOG_ENDS)
        dh_engine->control->progress.watchdogs = 1;
    return true;
}

/* ---- when one may expire ---- */

void dh_timers_wait(void)
{
    timers.hurries = false;
}

static bool is_waited_for(uint32_t task)
{
    unsigned kind = dh_engine->actors[task].step.kind;
    return !dh_engine->actors[task].ended && !dh_engine->tasks[task].is_daemon &&
           (kind == DH_STEP_DELIVER || kind == DH_STEP_IO);
}

/* A deadlock with a watchdog is still one. */
static bool is_anybody_waiting(void)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (is_waited_for(i))
            return true;
    return false;
}

bool dh_timers_hurry(void)
{
    if (!timers.armed || timers.idle >= IDLE_MOST)
        return false;
    timers.hurries = true;
    return true;
}

static bool may_expire(const struct timer *t)
{
    if (!t->is_armed)
        return false;
    if (is_deadly(t))
        return timers.hurries && is_anybody_waiting();
    if (t->expiry > dh_engine->now_ns + DH_FAR_NS)
        return timers.hurries;
    return timers.hurries || !t->interval || !t->fired || dh_engine->depth - t->fired > SPACING;
}

uint64_t dh_timers_signals(const struct dh_task *task)
{
    uint64_t set = 0;
    for (unsigned i = 0; timers.armed && i < timers.n; i++) {
        const struct timer *t = &timers.at[i];
        if (t->signal && (t->task == ANY_TASK || t->task == task->index) && may_expire(t))
            set |= dh_signal_bit(t->signal);
    }
    return set;
}

static void expire_now(struct timer *t)
{
    timers.idle += timers.hurries;
    uint64_t expiry = t->expiry;
    expire(t);
    dh_virtual_time_advance(expiry);
}

void dh_timers_expire_one(const struct dh_task *task, uint64_t set)
{
    struct timer *first = NULL;
    for (unsigned i = 0; timers.armed && i < timers.n; i++) {
        struct timer *t = &timers.at[i];
        if (t->signal && set & dh_signal_bit(t->signal) && (t->task == ANY_TASK || t->task == task->index) &&
            may_expire(t) && (!first || t->expiry < first->expiry))
            first = t;
    }
    if (first)
        expire_now(first);
}

/* ---- with threads of their own ---- */

static struct timer *new_timer(void)
{
    for (unsigned i = INTERVAL_TIMERS; i < TIMERS; i++)
        if (!timers.at[i].is_used) {
            timers.at[i] = (struct timer){.is_used = true, .id = FIRST_NUMBER + (int)i, .task = ANY_TASK};
            timers.n = i + 1 > timers.n ? i + 1 : timers.n;
            return &timers.at[i];
        }
    return NULL;
}

int dh_timers_create_thread(clockid_t clock, uint32_t number)
{
    struct timer *t = new_timer();
    if (!t)
        return -EAGAIN;
    t->clock = clock;
    t->has_thread = true;
    t->value.sival_int = (int)number;
    return t->id;
}

static struct timer *due_thread(void)
{
    struct timer *first = NULL;
    for (unsigned i = 0; timers.armed && i < timers.n; i++) {
        struct timer *t = &timers.at[i];
        if (t->has_thread && may_expire(t) && (!first || t->expiry < first->expiry))
            first = t;
    }
    return first;
}

bool dh_timers_thread_is_due(void)
{
    return due_thread();
}

uint32_t dh_timers_expire_thread(void)
{
    struct timer *t = due_thread();
    expire_now(t);
    return (uint32_t)t->value.sival_int;
}

/* ---- times ---- */

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
}

static struct timeval timeval_of(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / SECOND), (long)(ns % SECOND / 1000)};
}

static uint64_t of_timespec(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

static uint64_t of_timeval(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_usec * 1000;
}

/* 0: not armed; a timer that is late has a nanosecond left. */
static uint64_t time_left(const struct timer *t)
{
    uint64_t now = dh_engine->now_ns;
    return !t->is_armed ? 0 : t->expiry > now ? t->expiry - now : 1;
}

/* Whether it expires just before it is set anew is a choice. */
static uint32_t when_set(const struct dh_task *task)
{
    const struct timer *t = (const struct timer *)(uintptr_t)dh_task_step(task)->second;
    return t->is_armed && t->signal && may_expire(t) ? 3 : 1;
}

static void before_setting(struct timer *t)
{
    if (t->is_armed && dh_engine_park_at(DH_STEP_KILL, 0, (void *)(uintptr_t)UINT32_MAX, t, when_set) == 1)
        expire_now(t);
}

/* ---- alarm, setitimer ---- */

static struct timer *interval_timer(long which)
{
    static const int signals[INTERVAL_TIMERS] = {SIGALRM, SIGVTALRM, SIGPROF};
    struct timer *t = &timers.at[which];
    t->is_used = true;
    t->signal = signals[which];
    t->task = ANY_TASK;
    t->code = SI_KERNEL;
    timers.n = timers.n < INTERVAL_TIMERS ? INTERVAL_TIMERS : timers.n;
    return t;
}

static void set(struct timer *t, uint64_t from_now, uint64_t interval)
{
    if (from_now)
        arm(t, dh_engine->now_ns + from_now, interval);
    else
        disarm(t);
}

long dh_timers_alarm(long number, const long a[6])
{
    struct timer *t = interval_timer(ITIMER_REAL);
    (void)number;
    before_setting(t);
    uint64_t left = time_left(t);
    set(t, (unsigned)a[0] * SECOND, 0);
    return (long)((left + SECOND / 2) / SECOND ? (left + SECOND / 2) / SECOND : left > 0);
}

static struct itimerval value_of(const struct timer *t)
{
    return (struct itimerval){timeval_of(t->is_armed ? t->interval : 0), timeval_of(time_left(t))};
}

long dh_timers_setitimer(long number, const long a[6])
{
    (void)number;
    if (a[0] < 0 || a[0] >= INTERVAL_TIMERS)
        return -EINVAL;
    struct timer *t = interval_timer(a[0]);
    before_setting(t);
    struct itimerval none = {0}, before = value_of(t), wanted = a[1] ? *(const struct itimerval *)a[1] : none;
    set(t, of_timeval(&wanted.it_value), of_timeval(&wanted.it_interval));
    if (a[2])
        *(struct itimerval *)a[2] = before;
    return 0;
}

long dh_timers_getitimer(long number, const long a[6])
{
    (void)number;
    if (a[0] < 0 || a[0] >= INTERVAL_TIMERS)
        return -EINVAL;
    *(struct itimerval *)a[1] = value_of(interval_timer(a[0]));
    return 0;
}

/* ---- POSIX timers ---- */

static struct timer *find(long id)
{
    for (unsigned i = INTERVAL_TIMERS; i < timers.n; i++)
        if (timers.at[i].is_used && timers.at[i].id == (int)id)
            return &timers.at[i];
    return NULL;
}

static uint32_t task_of(int tid)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (dh_engine->tasks[i].tid == (uint32_t)tid)
            return i;
    return ANY_TASK;
}

long dh_timers_create(long number, const long a[6])
{
    const struct sigevent *event = (const struct sigevent *)a[1];
    struct timer *t = new_timer();
    (void)number;
    if (!t)
        return -EAGAIN;
    t->clock = (clockid_t)a[0];
    t->code = SI_TIMER;
    t->signal = !event ? SIGALRM : event->sigev_notify == SIGEV_NONE ? 0 : event->sigev_signo;
    t->value.sival_int = t->id;
    if (event)
        t->value = event->sigev_value;
    if (event && event->sigev_notify == SIGEV_THREAD_ID)
        t->task = task_of(event->_sigev_un._tid);
    *(int *)a[2] = t->id;
    return 0;
}

static struct itimerspec spec_of(const struct timer *t)
{
    return (struct itimerspec){timespec_of(t->is_armed ? t->interval : 0), timespec_of(time_left(t))};
}

long dh_timers_settime(long number, const long a[6])
{
    struct timer *t = find(a[0]);
    const struct itimerspec *wanted = (const struct itimerspec *)a[2];
    (void)number;
    if (!t || !wanted || !dh_timespec_is_valid(&wanted->it_value) || !dh_timespec_is_valid(&wanted->it_interval))
        return -EINVAL;
    before_setting(t);
    struct itimerspec before = spec_of(t);
    uint64_t value = of_timespec(&wanted->it_value), now = dh_engine->now_ns;
    if (value && a[1] & TIMER_ABSTIME) {
        uint64_t at = dh_virtual_time_of(t->clock, &wanted->it_value);
        value = at > now ? at - now : 1;
    }
    set(t, value, of_timespec(&wanted->it_interval));
    if (a[3])
        *(struct itimerspec *)a[3] = before;
    return 0;
}

long dh_timers_gettime(long number, const long a[6])
{
    const struct timer *t = find(a[0]);
    (void)number;
    if (!t)
        return -EINVAL;
    *(struct itimerspec *)a[1] = spec_of(t);
    return 0;
}

long dh_timers_getoverrun(long number, const long a[6])
{
    const struct timer *t = find(a[0]);
    (void)number;
    return t ? t->overrun : -EINVAL;
}

long dh_timers_delete(long number, const long a[6])
{
    struct timer *t = find(a[0]);
    (void)number;
    if (!t)
        return -EINVAL;
    before_setting(t);
    disarm(t);
    *t = (struct timer){0};
    return 0;
}

/* ---- set before the first thread ---- */

/* What is left is rounded up, since how long the program took until here differs from run to run. */
static uint64_t rounded(uint64_t left)
{
    return (left + SECOND - 1) / SECOND * SECOND;
}

static void take_interval_timer(long which)
{
    struct itimerval now, none = {0};
    struct timer *t = interval_timer(which);
    if (dh_kernel_call(SYS_getitimer, which, (long)&now, 0, 0, 0, 0) != 0 || !of_timeval(&now.it_value))
        return;
    dh_kernel_call(SYS_setitimer, which, (long)&none, 0, 0, 0, 0);
    arm(t, rounded(of_timeval(&now.it_value)), of_timeval(&now.it_interval));
}

static const char *number_after(const char *at, const char *word, uint64_t *out, unsigned base)
{
    const char *value = NULL;
    for (; *at && !value; at++)
        value = dh_text_after(at, word);
    *out = 0;
    for (; value && *value; value++) {
        unsigned digit = *value >= '0' && *value <= '9'   ? (unsigned)(*value - '0')
                         : *value >= 'a' && *value <= 'f' ? (unsigned)(*value - 'a' + 10)
                                                          : 99;
        if (digit >= base)
            break;
        *out = *out * base + digit;
    }
    return value;
}

/* "ID: N", "signal: N/VALUE", "notify: signal/pid.N" or "signal/tid.N" or "none/pid.N", "ClockID: N". */
static const char *take_posix_timer(const char *at)
{
    uint64_t id, signal, value, clock;
    struct itimerspec left = {0};
    at = number_after(at, "ID: ", &id, 10);
    if (!at || !(at = number_after(at, "signal: ", &signal, 10)) || !(at = number_after(at, "/", &value, 16)))
        return NULL;
    bool has_task = dh_text_after(at, "\nnotify: signal/tid"), is_silent = dh_text_after(at, "\nnotify: none");
    struct timer *t = new_timer();
    if (!t || !(at = number_after(at, "ClockID: ", &clock, 10)))
        return NULL;
    t->id = (int)id;
    t->signal = is_silent ? 0 : (int)signal;
    t->code = SI_TIMER;
    t->value.sival_ptr = (void *)(uintptr_t)value;
    t->task = has_task ? 0 : ANY_TASK;
    t->clock = (clockid_t)clock;
    dh_kernel_call(SYS_timer_gettime, t->id, (long)&left, 0, 0, 0, 0);
    if (of_timespec(&left.it_value))
        arm(t, rounded(of_timespec(&left.it_value)), of_timespec(&left.it_interval));
    dh_kernel_call(SYS_timer_delete, t->id, 0, 0, 0, 0, 0);
    return at;
}

void dh_timers_begin(void)
{
    static char text[16 << 10];
    for (long i = 0; i < INTERVAL_TIMERS; i++)
        take_interval_timer(i);
    long file = dh_kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/timers", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long n = file < 0 ? 0 : dh_kernel_call(SYS_read, file, (long)text, sizeof text - 1, 0, 0, 0);
    if (file >= 0)
        dh_kernel_call(SYS_close, file, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    for (const char *at = text; at;)
        at = take_posix_timer(at);
}
