#include "runtime/engine/processes/relatives.h"

#include "base/random.h"
#include "runtime/core/start.h"
#include "runtime/engine/engine.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <signal.h>

enum { ANCESTORS = 64 };

static struct dh_engine_relative *self; /* NULL: there was no room */
static uint64_t identity;
static uint32_t forks; /* children so far */

/* What pthread_atfork calls. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

static long read_file(const char *path, char *out, size_t n)
{
    long fd = dh_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    long got = fd < 0 ? 0 : dh_syscall3(SYS_read, fd, (long)out, (long)n - 1);
    if (fd >= 0)
        dh_sys_close((int)fd);
    got = got < 0 ? 0 : got;
    out[got] = 0;
    return got;
}

/* ---- entries ---- */

static struct dh_engine_relative *new_entry(uint32_t *number)
{
    struct dh_engine_control *c = dh_engine->control;
    *number = __atomic_fetch_add(&c->n_relatives, 1, __ATOMIC_ACQ_REL);
    return *number < DH_ENGINE_RELATIVES ? &c->relatives[*number] : NULL;
}

static void complete(struct dh_engine_relative *r)
{
    self = r;
    if (!r)
        return;
    r->identity = identity;
    dh_bytes_copy(r->build, __dh_module_id, sizeof r->build);
    __atomic_store_n(&r->pid, (uint32_t)dh_sys_getpid(), __ATOMIC_RELEASE);
}

/* Words of the command line, with spaces between them. */
static uint64_t read_command(struct dh_engine_relative *r)
{
    static char words[4096];
    long n = read_file("/proc/self/cmdline", words, sizeof words);
    uint64_t hash = 1;
    for (long i = 0; i < n; i++) {
        hash = dh_splitmix(hash + (unsigned char)words[i]);
        words[i] = words[i] ? words[i] : ' ';
    }
    while (n && words[n - 1] == ' ')
        words[--n] = 0;
    for (unsigned i = 0; i < sizeof __dh_module_id; i++)
        hash = dh_splitmix(hash + __dh_module_id[i]);
    if (!r)
        return hash;
    const char *program = dh_process.original ? dh_process.original : dh_process.path;
    dh_text_copy(r->program, sizeof r->program, program ? program : "");
    dh_text_copy(r->command, sizeof r->command, words);
    r->command_hash = hash;
    return hash;
}

static uint64_t times_before(uint64_t hash, uint32_t number)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < number && i < DH_ENGINE_RELATIVES; i++)
        n += dh_engine->control->relatives[i].command_hash == hash;
    return n;
}

static void count_fork(void)
{
    forks++;
}

void dh_relatives_start(void)
{
    uint32_t number, before = DH_ENGINE_STARTING;
    struct dh_engine_relative *r = new_entry(&number);
    uint64_t hash = read_command(r);
    identity = number ? dh_splitmix(hash + times_before(hash, number)) | 1 : 0;
    complete(r);
    __register_atfork(NULL, count_fork, NULL, NULL);
    __atomic_compare_exchange_n(&dh_engine->control->progress.state, &before, DH_ENGINE_SEQUENTIAL, false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void dh_relatives_forked(void)
{
    uint32_t number;
    const struct dh_engine_relative *parent = self;
    struct dh_engine_relative *r = new_entry(&number);
    identity = dh_splitmix(identity + forks + 1) | 1;
    forks = 0;
    if (parent && r) {
        dh_text_copy(r->program, sizeof r->program, parent->program);
        dh_text_copy(r->command, sizeof r->command, parent->command);
    }
    complete(r);
}

void dh_relatives_make_threads(void)
{
    if (self)
        self->made_threads = 1;
}

bool dh_relatives_is_followed(void)
{
    return identity == dh_engine->control->job.follow;
}

/* ---- those above ---- */

/* The parent's id stands behind the name, which may hold anything. */
static long parent_of(long pid)
{
    static char path[32] = "/proc/", text[512];
    char digits[12];
    unsigned n = 0, at = 6;
    for (long p = pid; p; p /= 10)
        digits[n++] = (char)('0' + p % 10);
    while (n)
        path[at++] = digits[--n];
    dh_text_copy(path + at, sizeof path - at, "/stat");
    long end = read_file(path, text, sizeof text), parent = 0;
    while (end > 0 && text[end - 1] != ')')
        end--;
    for (const char *c = end ? text + end + 3 : ""; *c >= '0' && *c <= '9'; c++)
        parent = parent * 10 + (*c - '0');
    return parent;
}

static bool is_below(long pid, long first)
{
    unsigned n = 0;
    while (pid > 1 && pid != first && n++ < ANCESTORS)
        pid = parent_of(pid);
    return pid == first;
}

void dh_relatives_begin(void)
{
    const struct dh_engine_control *c = dh_engine->control;
    long first = c->relatives[0].pid, self_pid = dh_sys_getpid();
    if (!identity || c->job.mode != DH_ENGINE_EXPLORE || !first || !is_below(self_pid, first))
        return;
    for (long pid = self_pid; pid != first;) {
        pid = parent_of(pid);
        dh_syscall3(SYS_kill, pid, SIGSTOP, 0);
    }
}
