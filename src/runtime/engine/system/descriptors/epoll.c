/* epoll: a set of descriptions with the events that are wanted of each. */
#include "runtime/engine/system/descriptors/event.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>

struct item {
    struct item *next;
    struct dh_description *d; /* does not keep it open */
    long fd;
    uint32_t events;
    uint32_t inputs, outputs; /* of the description when it was last reported, for EPOLLET */
    bool fresh;               /* added or modified since */
    bool off;                 /* EPOLLONESHOT was reported */
    uint64_t data;
};

struct set {
    struct set *next;
    struct item *items; /* the one that was reported last comes last */
    struct dh_description *self;
};

static struct set *sets;

enum { CHANGEABLE = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDNORM | EPOLLWRNORM | EPOLLRDHUP };

/* ---- what is ready ---- */

static bool has_news(const struct item *i, uint32_t ready)
{
    if (!(i->events & EPOLLET) || i->fresh)
        return true;
    return (i->d->inputs != i->inputs && ready & ~(uint32_t)(EPOLLOUT | EPOLLWRNORM)) ||
           (i->d->outputs != i->outputs && ready & (EPOLLOUT | EPOLLWRNORM | EPOLLERR | EPOLLHUP));
}

static uint32_t ready_events(const struct item *i)
{
    if (i->off)
        return 0;
    uint32_t ready = i->d->ops->poll(i->d, PIPE_BUF) & ((i->events & CHANGEABLE) | EPOLLERR | EPOLLHUP);
    return ready && has_news(i, ready) ? ready : 0;
}

static bool is_ready(const struct set *s)
{
    for (const struct item *i = s->items; i; i = i->next)
        if (ready_events(i))
            return true;
    return false;
}

static uint32_t poll_set(const struct dh_description *d, size_t size)
{
    (void)size;
    return is_ready(d->state) ? POLLIN | POLLRDNORM : 0;
}

static uint64_t due_of_set(const struct dh_description *d)
{
    uint64_t due = DH_NEVER;
    for (const struct item *i = ((const struct set *)d->state)->items; i; i = i->next) {
        uint64_t one = i->off || !(i->events & EPOLLIN) ? DH_NEVER : dh_description_due(i->d);
        due = one < due ? one : due;
    }
    return due;
}

static bool waits_for_outside(const struct dh_description *d)
{
    for (const struct item *i = ((const struct set *)d->state)->items; i; i = i->next)
        if (!i->off && dh_description_waits_for_outside(i->d))
            return true;
    return false;
}

/* ---- items ---- */

static struct item **find_item(struct set *s, const struct dh_description *d, long fd)
{
    struct item **at = &s->items;
    while (*at && ((*at)->d != d || (*at)->fd != fd))
        at = &(*at)->next;
    return at;
}

static void append(struct set *s, struct item *i)
{
    struct item **at = &s->items;
    while (*at)
        at = &(*at)->next;
    i->next = NULL;
    *at = i;
}

static void remove_at(struct item **at)
{
    struct item *i = *at;
    *at = i->next;
    dh_model_free(i, sizeof *i);
}

static void want(struct set *s, struct item *i, uint32_t events, uint64_t data)
{
    i->events = events;
    i->data = data;
    i->fresh = true;
    i->off = false;
    dh_description_input(s->self);
}

static void add_item(struct set *s, struct dh_description *d, long fd, uint32_t events, uint64_t data)
{
    struct item *i = dh_model_alloc(sizeof *i);
    i->d = d;
    i->fd = fd;
    append(s, i);
    want(s, i, events, data);
}

void dh_epoll_forget(const struct dh_description *d)
{
    for (struct set *s = sets; s; s = s->next)
        for (struct item **at = &s->items; *at;)
            if ((*at)->d == d)
                remove_at(at);
            else
                at = &(*at)->next;
}

static void release(struct dh_description *d)
{
    struct set *s = d->state, **at = &sets;
    while (s->items)
        remove_at(&s->items);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    dh_model_free(s, sizeof *s);
}

static const struct dh_description_ops ops = {.name = "epoll set",
                                              .poll = poll_set,
                                              .due = due_of_set,
                                              .waits_for_outside = waits_for_outside,
                                              .release = release};

static struct set *set_of(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    return d && d->ops == &ops ? d->state : NULL;
}

/* ---- making ---- */

static struct set *new_set(void)
{
    struct set *s = dh_model_alloc(sizeof *s);
    s->next = sets;
    return sets = s;
}

long dh_epoll_make(long number, const long a[6])
{
    if (number == SYS_epoll_create && (int)a[0] <= 0)
        return -EINVAL;
    dh_io_step_numbers(NULL, -1);
    struct set *s = new_set();
    long fd = dh_description_open(&ops, s, O_RDWR, number == SYS_epoll_create1 && a[0] & O_CLOEXEC, &s->self);
    if (fd >= 0)
        s->self->object = s;
    else {
        sets = s->next;
        dh_model_free(s, sizeof *s);
    }
    return fd;
}

struct dh_description *dh_epoll_take_over(long fd, unsigned flags)
{
    struct set *s = new_set();
    s->self = dh_description_take_over(fd, &ops, s, flags);
    s->self->object = s;
    return s->self;
}

void dh_epoll_add(struct dh_description *set, long fd, uint32_t events, uint64_t data)
{
    struct dh_description *d = dh_description_of(fd);
    if (d)
        add_item(set->state, d, fd, events, data);
}

/* ---- epoll_ctl ---- */

static long change(struct set *s, long how, struct dh_description *d, long fd, const struct epoll_event *e)
{
    struct item **at = find_item(s, d, fd);
    if (how == EPOLL_CTL_ADD && *at)
        return -EEXIST;
    if (how != EPOLL_CTL_ADD && !*at)
        return -ENOENT;
    if (how == EPOLL_CTL_ADD)
        add_item(s, d, fd, e->events, e->data.u64);
    else if (how == EPOLL_CTL_DEL)
        remove_at(at);
    else if ((*at)->events & EPOLLEXCLUSIVE)
        return -EINVAL;
    else
        want(s, *at, e->events, e->data.u64);
    return 0;
}

long dh_epoll_control(long number, const long a[6])
{
    struct set *s = set_of(a[0]);
    (void)number;
    if (s)
        dh_io_step_on(s, (int)a[0], true);
    s = set_of(a[0]);
    struct dh_description *d = dh_description_of(a[2]);
    long error = !s   ? (dh_description_of(a[0]) || dh_files_is_open(a[0]) ? -EINVAL : -EBADF)
                 : !d ? (dh_files_is_open(a[2]) ? -EPERM : -EBADF)
                 : d->state == s || a[1] < EPOLL_CTL_ADD || a[1] > EPOLL_CTL_MOD
                     ? -EINVAL
                     : change(s, a[1], d, a[2], (const struct epoll_event *)a[3]);
    if (error)
        dh_io_failed();
    return error;
}

/* ---- epoll_wait ---- */

enum { FD, EVENTS, ROOM }; /* io_args of the task */

static void report_item(struct item *i, uint32_t ready, struct epoll_event *out)
{
    *out = (struct epoll_event){.events = ready, .data.u64 = i->data};
    i->fresh = false;
    i->inputs = i->d->inputs;
    i->outputs = i->d->outputs;
    i->off = i->events & EPOLLONESHOT;
    dh_io_acquire(i->d->object);
}

/* What is reported goes to the end, so that all get their turn. */
static long report_set(struct set *s, struct epoll_event *out, long room)
{
    struct item *reported = NULL, **tail = &reported;
    long n = 0;
    for (struct item **at = &s->items; *at && n < room;) {
        struct item *i = *at;
        uint32_t ready = ready_events(i);
        if (!ready) {
            at = &i->next;
            continue;
        }
        report_item(i, ready, &out[n++]);
        *at = i->next;
        i->next = NULL;
        *tail = i;
        tail = &i->next;
    }
    struct item **end = &s->items;
    while (*end)
        end = &(*end)->next;
    *end = reported;
    return n;
}

static long collect(const struct dh_task *t, bool report)
{
    struct set *s = set_of(t->io_args[FD]);
    if (!s)
        return -EBADF;
    return report ? report_set(s, (struct epoll_event *)t->io_args[EVENTS], t->io_args[ROOM]) : is_ready(s);
}

static uint64_t due(const struct dh_task *t)
{
    return dh_description_due(dh_description_of(t->io_args[FD]));
}

static bool outside(const struct dh_task *t)
{
    return dh_description_waits_for_outside(dh_description_of(t->io_args[FD]));
}

static uint32_t when_ready(const struct dh_task *t)
{
    return dh_io_alternatives(t, collect(t, false) != 0, due(t));
}

long dh_epoll_await(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    struct set *s = set_of(a[0]);
    if (!s)
        return dh_description_of(a[0]) || dh_files_is_open(a[0]) ? -EINVAL : -EBADF;
    if ((int)a[2] <= 0)
        return -EINVAL;
    t->io_args[FD] = a[0];
    t->io_args[EVENTS] = a[1];
    t->io_args[ROOM] = (int)a[2];
    struct dh_event_wait w = {.io = {.object = s,
                                     .fd = (int)a[0],
                                     .flags = DH_STEP_READS,
                                     .touch = DH_IO_WATCHES,
                                     .alternatives = when_ready,
                                     .due = due,
                                     .outside = outside},
                              .timeout_ns = number == SYS_epoll_pwait2 ? dh_event_ns((const struct timespec *)a[3])
                                                                       : dh_event_ms(a[3]),
                              .collect = collect};
    return dh_event_await(&w);
}
