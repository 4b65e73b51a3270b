#include "classify/free_runs.h"

#include "base/set.h"
#include "driver/derive.h"
#include "driver/library_variants.h"
#include "driver/site_selection.h"
#include "event/output_digest.h"
#include "event/stale.h"
#include "host/library_path.h"
#include "host/private_files.h"
#include "host/resources.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SLOTS = 16,      /* threads that are distinguished by default, */
    SLOTS_LEAST = 8, /* and at least */
    PRINTED = 2000,  /* bytes of each stream that are kept */
    LOG_RECORDS = 1 << 20,
    LOOK_MS = 50
};
#define OUTPUT_MOST (256l << 20) /* a run that writes more hangs */
#define RUN_NS 10000000000ull

/* ---- the variant ---- */

struct variant {
    char *plan, *path, *libraries, *tool;
    struct dh_racy_element elements[DH_ENGINE_ELEMENTS]; /* as they lie in it */
    size_t n_elements;
};

static void release_variant(struct variant *v)
{
    free(v->plan);
    free(v->path);
    free(v->libraries);
    free(v->tool);
}

/* Sites are numbered alike in all variants, and named alike: places of the subject are chosen by the name of theirs. */
static char *selection_of(const struct dh_free *f, const struct dh_subject *s)
{
    struct dh_u64_set chosen = {0};
    struct dh_str text = {0};
    dh_str_add(&text, "");
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = f->marks[i] & DH_ENGINE_STALE ? dh_place_names_site(s->places, i, &t) : NULL;
        if (site && dh_u64_set_add_pointer(&chosen, site))
            dh_str_addf(&text, "sites site:%s\n", dh_site_string(t, site->name));
    }
    for (size_t i = 0; i < f->n_sites; i++)
        dh_str_addf(&text, "sites site:%s\n", f->sites[i]);
    dh_u64_set_release(&chosen);
    return dh_str_take(&text);
}

/* The engine's variants of libraries come first on the path that our children get; here it is as the user has it. */
static bool derive_libraries(struct variant *v, const struct dh_subject *s, struct dh_err *err)
{
    const char *users = getenv(DH_USERS_LIBRARY_PATH), *now = getenv("LD_LIBRARY_PATH");
    char *ours = users && now ? dh_strdup(now) : NULL;
    if (ours)
        setenv("LD_LIBRARY_PATH", users, 1);
    bool ok = dh_variant_derive_libraries(s->program, v->plan, &v->libraries, err);
    if (ours)
        setenv("LD_LIBRARY_PATH", ours, 1);
    free(ours);
    return ok;
}

static bool derive(struct variant *v, const struct dh_free *f, const struct dh_subject *s, struct dh_err *err)
{
    char *text = selection_of(f, s), *name = NULL, *kept = NULL;
    *v = (struct variant){0};
    bool ok = *text ? dh_selection_store(text, strlen(text), &name, &kept, err)
                    : dh_err_set(err, "no place of %s was chosen", s->called);
    free(text);
    if (!ok)
        return false;
    v->plan = dh_format("stale%c%s", DH_SELECTION_MARK, name);
    free(name);
    free(kept);
    v->tool = dh_resource_self(err);
    v->path = v->tool ? dh_variant_derive(s->program, v->plan, err) : NULL;
    ok = v->path && derive_libraries(v, s, err);
    if (!ok)
        release_variant(v);
    v->n_elements = f->n_elements < DH_ENGINE_ELEMENTS ? f->n_elements : DH_ENGINE_ELEMENTS;
    if (ok && v->n_elements) {
        memcpy(v->elements, f->elements, v->n_elements * sizeof *v->elements);
        dh_racy_elements_resolve(v->elements, v->n_elements, v->path);
    }
    return ok || dh_err_while(err, "preparing %s for free runs", s->called);
}

/* ---- the region ---- */

struct running {
    const struct dh_free *f;
    const struct dh_subject *s;
    const struct variant *v;
    uint64_t number;
    struct dh_stale_control *region;
    size_t size;
    int file, streams[2];
    pid_t pid;
    uint64_t began;
};

static bool has_tears(const struct running *r)
{
    for (uint32_t i = 0; i < r->s->start.places; i++)
        if (r->f->marks[i] & DH_ENGINE_STALE && r->f->marks[i] & DH_ENGINE_TEARS)
            return true;
    return false;
}

static uint32_t slots_of(const struct dh_free *f)
{
    uint32_t n = f->threads ? f->threads : SLOTS;
    return n < SLOTS_LEAST ? SLOTS_LEAST : n > DH_STALE_SLOTS_MOST ? DH_STALE_SLOTS_MOST : n;
}

static bool make_region(struct running *r, struct dh_err *err)
{
    uint32_t records = r->f->log ? LOG_RECORDS : 0;
    r->size = sizeof *r->region + records * sizeof *r->region->log;
    r->file = memfd_create("deadheat-stale", MFD_CLOEXEC);
    if (r->file < 0 || ftruncate(r->file, (off_t)r->size) != 0)
        return dh_err_errno(err, "no memory for the run");
    r->region = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, 0);
    if (r->region == MAP_FAILED) {
        r->region = NULL;
        return dh_err_errno(err, "no memory for the run");
    }
    r->region->magic = DH_STALE_MAGIC;
    r->region->version = DH_STALE_VERSION;
    r->region->log_room = records;
    r->region->job = (struct dh_stale_job){.seed = r->f->seed + r->number,
                                           .fairness = r->f->fairness,
                                           .slots = slots_of(r->f),
                                           .flags = (has_tears(r) ? DH_STALE_TEAR : 0u) |
                                                    (r->f->log || r->f->all ? DH_STALE_ALL : 0u)};
    r->region->job.n_only = r->f->n_only < DH_STALE_ONLY ? r->f->n_only : DH_STALE_ONLY;
    if (r->region->job.n_only)
        memcpy(r->region->job.only, r->f->only, r->region->job.n_only * sizeof *r->f->only);
    r->region->job.n_elements = dh_racy_elements_export(r->v->elements, r->v->n_elements, r->region->job.elements);
    if (r->f->heuristic)
        strncpy(r->region->job.heuristic, r->f->heuristic, sizeof r->region->job.heuristic - 1);
    return true;
}

/* ---- in the child ---- */

static void set_environment(const struct running *r, pid_t tool)
{
    enum dh_files files = dh_private_files(r->s->start.argv, NULL);
    if (r->f->heuristic)
        setenv("DEADHEAT_STALE", dh_file_for_program(r->file, tool, files), 1);
    setenv("DEADHEAT_VARIANT", r->v->plan, 1);
    setenv("DEADHEAT_TOOL", r->v->tool, 1);
    setenv("DEADHEAT_OPTIONS", "detect=none", 1);
    if (r->f->program)
        unsetenv("DEADHEAT_PROGRAM");
    else
        setenv("DEADHEAT_PROGRAM", r->s->program, 1);
    dh_library_path_restore();
    if (r->v->libraries)
        dh_library_path_prepend(r->v->libraries);
    for (char **e = r->s->start.environment; e && *e; e++)
        putenv(*e);
}

static void run_program(const struct running *r, pid_t tool)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    int input = open(r->s->start.input ? r->s->start.input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0)
        input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(input, 0);
    dup2(r->streams[0], 1);
    dup2(r->streams[1], 2);
    set_environment(r, tool);
    if (r->f->program)
        execvp(r->f->program, r->s->start.argv);
    else
        execv(r->v->path, r->s->start.argv);
    _exit(127);
}

/* ---- its life ---- */

static bool start(struct running *r, struct dh_err *err)
{
    pid_t tool = getpid();
    for (int i = 0; i < 2; i++) {
        r->streams[i] = memfd_create("deadheat-output", MFD_CLOEXEC);
        if (r->streams[i] < 0 || fcntl(r->streams[i], F_SETFL, O_APPEND) != 0)
            return dh_err_errno(err, "no memory for the run's output");
    }
    r->began = dh_now_ns();
    r->pid = fork();
    if (r->pid == 0)
        run_program(r, tool);
    if (r->pid < 0)
        return dh_err_errno(err, "cannot start %s", r->v->path);
    setpgid(r->pid, r->pid);
    return true;
}

static off_t written(int file)
{
    struct stat st;
    return fstat(file, &st) == 0 ? st.st_size : 0;
}

/* False: it takes too long, or writes without end. */
static bool wait_for_end(const struct running *r, uint64_t until)
{
    int file = (int)syscall(SYS_pidfd_open, r->pid, 0);
    struct pollfd p = {.fd = file, .events = POLLIN};
    for (;;) {
        uint64_t now = dh_now_ns();
        if (now >= until || written(r->streams[0]) > OUTPUT_MOST || written(r->streams[1]) > OUTPUT_MOST)
            break;
        uint64_t ms = (until - now + 999999) / 1000000;
        if (poll(&p, 1, ms < LOOK_MS || file < 0 ? (int)(ms < LOOK_MS ? ms : 1) : LOOK_MS) > 0)
            break;
        if (file < 0 && waitid(P_PID, (id_t)r->pid, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) < 0)
            break;
    }
    siginfo_t ended = {0};
    bool has_ended = waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == r->pid;
    if (file >= 0)
        close(file);
    return has_ended;
}

/* Kills the processes that it started. */
static void finish(const struct running *r, bool in_time, struct dh_free_run *out)
{
    struct rusage usage = {0};
    if (!in_time)
        kill(r->pid, SIGKILL);
    while (wait4(r->pid, &out->wait_status, 0, &usage) < 0 && errno == EINTR)
        ;
    kill(-r->pid, SIGKILL);
    out->time_ns = dh_now_ns() - r->began;
    out->cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
    bool declined = r->f->heuristic && !atomic_load(&r->region->processes);
    out->end = !in_time                        ? DH_FREE_HUNG
               : WIFSIGNALED(out->wait_status) ? DH_FREE_KILLED
               : declined                      ? DH_FREE_DECLINED
                                               : DH_FREE_EXITED;
}

/* ---- what came of it ---- */

static uint64_t read_stream(const int *streams, unsigned which, struct dh_str *printed)
{
    int file = streams[which];
    struct dh_output_digest p = {0};
    size_t n = (size_t)written(file);
    unsigned char *at = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        return 0;
    size_t from = n > PRINTED ? n - PRINTED : 0;
    dh_str_add_n(printed, (const char *)at + from, n - from);
    dh_output_digest_add(&p, at, n, which == 1);
    munmap(at, n);
    return dh_output_digest_sum(p);
}

static void read_region(const struct dh_stale_control *c, struct dh_free_run *out)
{
    uint64_t syncs = 0;
    for (unsigned i = 0; i < DH_STALE_LANES; i++) {
        const struct dh_stale_counts *l = &c->lanes[i];
        out->loads += atomic_load(&l->loads) + atomic_load(&l->passed);
        out->passed += atomic_load(&l->passed);
        out->open_loads += atomic_load(&l->open);
        out->stale_loads += atomic_load(&l->stale);
        out->stores += atomic_load(&l->stores);
        syncs += atomic_load(&l->syncs);
    }
    out->operations = out->loads + out->stores + syncs;
    out->locations = atomic_load(&c->locations);
    out->shared = atomic_load(&c->shared);
    out->buffer_most = atomic_load(&c->buffer_most);
    out->removed = atomic_load(&c->removed);
    out->untold = atomic_load(&c->untold);
    out->threads = atomic_load(&c->threads);
    out->n_stale = atomic_load(&c->n_stale);
    memcpy(out->stale, c->stale, sizeof out->stale);
}

static bool write_log(const struct running *r, struct dh_err *err)
{
    const struct dh_stale_control *c = r->region;
    uint64_t n = atomic_load(&c->log_used);
    n = n < c->log_room ? n : c->log_room;
    return !r->f->log || dh_file_write(r->f->log, c->log, n * sizeof *c->log, 0600, err);
}

static void release_running(struct running *r)
{
    if (r->region)
        munmap(r->region, r->size);
    if (r->file >= 0)
        close(r->file);
    for (int i = 0; i < 2; i++)
        if (r->streams[i] >= 0)
            close(r->streams[i]);
}

static bool run_once(struct running *r, struct dh_free_run *out, struct dh_err *err)
{
    struct dh_str printed = {0};
    *out = (struct dh_free_run){0};
    if (!make_region(r, err) || !start(r, err))
        return false;
    uint64_t most = r->f->run_ns ? r->f->run_ns : RUN_NS;
    finish(r, wait_for_end(r, r->began + most), out);
    dh_str_add(&printed, "");
    out->outcome.output = read_stream(r->streams, 0, &printed);
    out->outcome.errors = read_stream(r->streams, 1, &printed);
    out->outcome.status = WIFEXITED(out->wait_status) ? WEXITSTATUS(out->wait_status) : 0;
    out->printed = dh_str_take(&printed);
    read_region(r->region, out);
    return write_log(r, err);
}

bool dh_free_run(const struct dh_free *f, struct dh_subject *s, bool (*seen)(void *arg, const struct dh_free_run *r),
                 void *arg, struct dh_err *err)
{
    struct variant v;
    if (!derive(&v, f, s, err))
        return false;
    uint64_t until = f->time_ns ? dh_now_ns() + f->time_ns : UINT64_MAX;
    bool ok = true, goes_on = true;
    for (uint64_t i = 0; ok && goes_on && i < f->runs && dh_now_ns() < until; i++) {
        struct running r = {.f = f, .s = s, .v = &v, .number = i, .file = -1, .streams = {-1, -1}};
        struct dh_free_run out;
        ok = run_once(&r, &out, err);
        goes_on = ok && seen(arg, &out);
        free(out.printed);
        release_running(&r);
    }
    release_variant(&v);
    return ok;
}

/* ---- the baseline ---- */

enum dh_engine_end dh_free_judge(const struct dh_free_run *r, const struct dh_baseline *b)
{
    enum dh_engine_end end = DH_ENGINE_DONE;
    if (!r->stale_loads) /* not due to stale values */
        return end;
    if (r->end == DH_FREE_HUNG)
        end = DH_ENGINE_HANG;
    else if (r->end == DH_FREE_KILLED)
        end = WTERMSIG(r->wait_status) == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH;
    else {
        end = DH_ENGINE_WRONG;
        for (uint32_t i = 0; i < b->n_outcomes && end == DH_ENGINE_WRONG; i++) {
            const struct dh_engine_outcome *o = &b->outcomes[i];
            if (o->status == r->outcome.status && (b->output_varies || o->output == r->outcome.output) &&
                (b->errors_vary || o->errors == r->outcome.errors))
                end = DH_ENGINE_DONE;
        }
    }
    return b->ends[end] ? DH_ENGINE_DONE : end; /* not the variable's doing */
}

static bool add_to_baseline(void *arg, const struct dh_free_run *r)
{
    struct dh_baseline *b = arg;
    uint32_t i = 0;
    b->schedules++;
    b->threads = r->threads > b->threads ? r->threads : b->threads;
    b->longest_ns = r->time_ns > b->longest_ns ? r->time_ns : b->longest_ns;
    b->operations_most = r->operations > b->operations_most ? r->operations : b->operations_most;
    if (r->end == DH_FREE_DECLINED) {
        b->cannot = dh_strdup("it never ran as the variant that serves values");
        return false;
    }
    if (r->end != DH_FREE_EXITED) {
        b->ends[r->end == DH_FREE_HUNG                ? DH_ENGINE_HANG
                : WTERMSIG(r->wait_status) == SIGABRT ? DH_ENGINE_ASSERTION
                                                      : DH_ENGINE_CRASH]++;
        return true;
    }
    b->ends[DH_ENGINE_DONE]++;
    b->operations += r->operations;
    if (!b->n_outcomes)
        b->status = r->outcome.status;
    if (r->outcome.status != b->status) {
        b->ends[DH_ENGINE_WRONG]++;
        return true;
    }
    while (i < b->n_outcomes &&
           (b->outcomes[i].output != r->outcome.output || b->outcomes[i].errors != r->outcome.errors))
        i++;
    if (i == DH_ENGINE_OUTCOMES)
        return true;
    if (i == b->n_outcomes)
        b->outcomes[b->n_outcomes++] = r->outcome;
    b->outcomes[i].times++;
    return true;
}

static bool varies(const struct dh_baseline *b, bool errors)
{
    return b->schedules > 4 && dh_baseline_output_varies(b, errors);
}

bool dh_free_baseline(struct dh_baseline *b, const struct dh_free *f, struct dh_subject *s, struct dh_err *err)
{
    struct dh_free newest = *f;
    *b = (struct dh_baseline){0};
    newest.heuristic = "newest";
    if (!dh_free_run(&newest, s, add_to_baseline, b, err))
        return false;
    uint64_t ended = b->ends[DH_ENGINE_DONE];
    b->operations = ended ? b->operations / ended : 0;
    b->no_threads = b->threads < 2;
    b->output_varies = varies(b, false);
    b->errors_vary = varies(b, true);
    b->ends[DH_ENGINE_DONE] = 0; /* counts what ended otherwise */
    if (!b->n_outcomes && !b->cannot)
        b->cannot = dh_strdup("it never came to its end in runs with the newest values");
    return true;
}
