#include "prove/engine_process.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "host/private_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REGION_NAME "deadheat-engine"
#define DAEMON_NS 2000000000ull /* that it may take to make its first thread after its parent ended */

struct dh_engine_process {
    struct dh_engine_control *region;
    uint64_t size;
    int file;
    pid_t pid;      /* 0: has ended */
    bool is_reaped; /* of a daemon: its child goes on */
    uint64_t reaped_ns;
    int status;
};

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

/* ---- the region ---- */

static void set_adversary(struct dh_engine_control *r, const struct dh_subject_start *s,
                          const struct dh_adversary_setup *a)
{
    memcpy(r->job.model, a->model, sizeof r->job.model);
    r->job.threads = a->threads;
    if (a->judges)
        r->job.flags |= DH_ENGINE_JUDGE;
    if (a->marks)
        memcpy(dh_engine_adversary(r), a->marks, s->places);
    r->n_outcomes = a->n_outcomes < DH_ENGINE_OUTCOMES ? a->n_outcomes : DH_ENGINE_OUTCOMES;
    r->n_foreseen = a->n_foreseen < DH_ENGINE_FORESEEN ? a->n_foreseen : DH_ENGINE_FORESEEN;
    if (r->n_foreseen)
        memcpy(r->foreseen, a->foreseen, r->n_foreseen * sizeof *r->foreseen);
    r->n_elements = dh_racy_elements_export(a->elements, a->n_elements, r->elements);
    if (r->n_outcomes)
        memcpy(r->outcomes, a->outcomes, r->n_outcomes * sizeof *r->outcomes);
}

static bool make_region(struct dh_engine_process *c, const struct dh_subject_start *s,
                        const struct dh_engine_request *w, struct dh_err *err)
{
    uint64_t found = w->found_bytes ? w->found_bytes : 16u << 20;
    c->size = dh_engine_control_size(s->places, w->prefix_length, found);
    c->file = memfd_create(REGION_NAME, MFD_CLOEXEC);
    if (c->file < 0 || ftruncate(c->file, (off_t)c->size) != 0)
        return dh_err_errno(err, "no memory for the search");
    c->region = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->file, 0);
    if (c->region == MAP_FAILED) {
        c->region = NULL;
        return dh_err_errno(err, "no memory for the search");
    }
    dh_engine_control_init(c->region, s->places, w->prefix_length, found);
    c->region->n_libraries = s->n_libraries;
    if (s->n_libraries)
        memcpy(c->region->libraries, s->libraries, s->n_libraries * sizeof *s->libraries);
    c->region->job = w->job;
    c->region->job.prefix_length = w->prefix_length;
    c->region->job.flags |= s->fresh ? DH_ENGINE_FRESH : 0u;
    if (s->follow)
        c->region->job.follow = s->follow;
    if (w->visible)
        memcpy(dh_engine_visible(c->region), w->visible, s->places * sizeof *w->visible);
    set_adversary(c->region, s, &w->adversary);
    if (w->prefix_length)
        memcpy(dh_engine_prefix(c->region), w->prefix, w->prefix_length * sizeof *w->prefix);
    return true;
}

/* ---- in the child ---- */

static void redirect(int fd, int as)
{
    if (fd >= 0 && fd != as)
        dup2(fd, as);
}

static void set_up_streams(const struct dh_subject_start *s, int output, int errors)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int input = s->input ? open(s->input, O_RDONLY | O_CLOEXEC) : nothing;
    redirect(input >= 0 ? input : nothing, 0);
    if (output == DH_OUTPUT_INHERITED)
        return;
    redirect(output >= 0 ? output : nothing, 1);
    redirect(errors > 0 ? errors : output >= 0 ? output : nothing, 2);
}

/* What the program does may not depend on any of it. */
static void perturb(unsigned how)
{
    enum { LEAST = 1000, MORE = 1717 };
    char *padding = dh_xmalloc(LEAST + MORE * how + 1), *tunables;
    const char *old = getenv("GLIBC_TUNABLES");
    memset(padding, 'x', LEAST + MORE * how);
    padding[LEAST + MORE * how] = 0;
    setenv("DEADHEAT_PADDING", padding, 1);
    tunables = dh_format("%s%sglibc.malloc.perturb=%u", old ? old : "", old && *old ? ":" : "", 0x5a + how);
    setenv("GLIBC_TUNABLES", tunables, 1);
    free(padding);
    free(tunables);
}

static void set_up_environment(const struct dh_engine_process *c, const struct dh_subject_start *s, pid_t tool)
{
    bool is_private = !s->through && !(c->region->job.flags & DH_ENGINE_FOR_REAL);
    enum dh_files files = is_private ? dh_private_files(s->argv, NULL) : DH_FILES_REAL;
    setenv("DEADHEAT_ENGINE", dh_file_for_program(c->file, tool, files), 1);
    for (char **e = s->environment; e && *e; e++)
        putenv(*e);
    if (s->perturbed)
        perturb(s->perturbed);
}

static void execute(const struct dh_subject_start *s)
{
    DH_VEC(char *) argv = {0};
    for (const char *const *t = s->through; t && *t; t++)
        dh_vec_push(&argv, (char *)*t);
    const char *file = s->command ? s->command : s->variant;
    if (!s->through) {
        execv(file, s->argv);
        return;
    }
    dh_vec_push(&argv, (char *)file);
    for (char **a = s->argv + 1; *a; a++)
        dh_vec_push(&argv, *a);
    dh_vec_push(&argv, NULL);
    execvp(argv.at[0], argv.at);
}

/* Without randomised addresses, so that a program that depends on addresses behaves alike in every run. */
static void run_program(const struct dh_engine_process *c, const struct dh_subject_start *s,
                        const struct dh_engine_request *work, pid_t tool)
{
    personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!s->through)
        setpgid(0, 0);
    if (!s->through)
        set_up_streams(s, work->output, work->errors);
    set_up_environment(c, s, tool);
    execute(s);
    _exit(127);
}

/* ---- start and end ---- */

struct dh_engine_process *dh_engine_process_start(const struct dh_subject_start *start,
                                                  const struct dh_engine_request *work, struct dh_err *err)
{
    struct dh_engine_process *c = dh_xcalloc(1, sizeof *c);
    pid_t tool = getpid();
    c->file = -1;
    if (!make_region(c, start, work, err)) {
        dh_engine_process_free(c);
        return NULL;
    }
    c->pid = fork();
    if (c->pid == 0)
        run_program(c, start, work, tool);
    if (c->pid < 0) {
        c->pid = 0;
        dh_err_errno(err, "cannot start %s", start->variant);
        dh_engine_process_free(c);
        return NULL;
    }
    if (!start->through)
        setpgid(c->pid, c->pid);
    return c;
}

struct dh_engine_control *dh_engine_process_region(struct dh_engine_process *c)
{
    return c->region;
}

/* ---- its children ---- */

/* A process that left the group (a daemon) and still is what it was: it maps the region. */
static bool is_relative(pid_t pid)
{
    char path[32], line[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, "memfd:" REGION_NAME) != NULL;
    if (f)
        fclose(f);
    return found;
}

static void kill_relatives(const struct dh_engine_control *r)
{
    uint32_t n = __atomic_load_n(&r->n_relatives, __ATOMIC_ACQUIRE);
    for (uint32_t i = 1; i < n && i < DH_ENGINE_RELATIVES; i++) {
        pid_t pid = (pid_t)r->relatives[i].pid;
        if (pid > 1 && kill(pid, 0) == 0 && is_relative(pid))
            kill(pid, SIGKILL);
    }
}

static bool follows(const struct dh_engine_process *c)
{
    return c->region->job.follow && c->region->job.follow != DH_ENGINE_NOBODY;
}

static bool followed_lives(const struct dh_engine_process *c)
{
    const struct dh_engine_control *r = c->region;
    uint32_t n = __atomic_load_n(&r->n_relatives, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < DH_ENGINE_RELATIVES; i++)
        if (r->relatives[i].identity == r->job.follow && r->relatives[i].pid)
            return is_relative((pid_t)r->relatives[i].pid);
    return dh_now_ns() < c->reaped_ns + DAEMON_NS; /* it may not have begun yet */
}

/* Of a search: then those above it are stopped and wait for nothing. */
static bool followed_is_done(const struct dh_engine_process *c)
{
    return c->region->job.mode == DH_ENGINE_EXPLORE &&
           __atomic_load_n(&c->region->progress.state, __ATOMIC_ACQUIRE) >= DH_ENGINE_FINISHED;
}

/* Kills the processes that it started. */
static void clean_up(struct dh_engine_process *c)
{
    kill(-c->pid, SIGKILL);
    kill_relatives(c->region);
    c->pid = 0;
}

static void kill_now(struct dh_engine_process *c)
{
    if (!c->pid)
        return;
    if (!c->is_reaped)
        kill(c->pid, SIGKILL);
    while (!c->is_reaped && waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    clean_up(c);
}

/* A process that outlives the first one, a daemon, may still make threads. */
static bool may_make_threads(const struct dh_engine_process *c)
{
    const struct dh_engine_control *r = c->region;
    uint32_t n = __atomic_load_n(&r->n_relatives, __ATOMIC_ACQUIRE);
    if (r->job.follow || r->relatives[0].made_threads || dh_now_ns() > c->reaped_ns + DAEMON_NS)
        return false;
    for (uint32_t i = 1; i < n && i < DH_ENGINE_RELATIVES; i++)
        if (r->relatives[i].pid && !r->relatives[i].made_threads && is_relative((pid_t)r->relatives[i].pid))
            return true;
    return false;
}

static bool reap(struct dh_engine_process *c)
{
    if (!c->is_reaped && waitpid(c->pid, &c->status, WNOHANG) == c->pid) {
        c->is_reaped = true;
        c->reaped_ns = dh_now_ns();
    }
    return c->is_reaped && !(follows(c) && followed_lives(c) && !followed_is_done(c)) && !may_make_threads(c);
}

bool dh_engine_process_ended(struct dh_engine_process *c)
{
    if (c->pid && !c->is_reaped && follows(c) && followed_is_done(c))
        kill_now(c);
    else if (c->pid && reap(c))
        clean_up(c);
    return !c->pid;
}

void dh_engine_process_stop(struct dh_engine_process *c)
{
    __atomic_store_n(&c->region->stop, 1, __ATOMIC_RELAXED);
}

bool dh_engine_process_wait(struct dh_engine_process *c, uint64_t patience_ns)
{
    enum { SHORTEST = 50000, LONGEST = 4000000 };
    uint64_t until = dh_now_ns() + dh_deadline_limit(patience_ns);
    for (long ns = SHORTEST; !dh_engine_process_ended(c); ns = ns * 2 < LONGEST ? ns * 2 : LONGEST) {
        if (dh_now_ns() > until) {
            kill_now(c);
            return false;
        }
        sleep_ns(ns);
    }
    return true;
}

int dh_engine_process_status(const struct dh_engine_process *c)
{
    return c->status;
}

void dh_engine_process_free(struct dh_engine_process *c)
{
    if (!c)
        return;
    kill_now(c);
    if (c->region)
        munmap(c->region, c->size);
    if (c->file >= 0)
        close(c->file);
    free(c);
}
