/* drive [options] -- COMMAND...: runs COMMAND (a program of the engine variant, or `deadheat run --plan=engine --
 * PROG`) under a control region and prints what came of it. Stands in for `deadheat prove` in tests.
 *   --strategy=S --seed=N --schedules=N --seconds=S --depth=N --preemptions=N
 *   --visible=all | --visible=P,P,...   --target=P,P   --look-for=race,deadlock,...
 *   --model=M --stale=P,P,...   loads at these places get what that memory model allows, by chance; --systematic: all
 * of it
 *   --collect       prints exit statuses that schedules came to
 *   --spurious --first --no-races --no-order --extend --output --kernel-threads --hang-ms=N --then=S --trap
 * --no-fsgsbase
 *   --only-visible  nothing is asked for but what is visible: other plain accesses are hidden
 *   --only-shared   accesses of what several threads were seen to access are looked at, too: with --extend
 *   --spare-busy    with it: places to which the recorded run comes very often are not visible
 *   --start=N --start-least=N   begins in the middle of runs that have so many steps
 *   --save=FILE.N   writes the schedules found to FILE.0, FILE.1 ..., what was visible to FILE.N.visible, and writes
 * that loads took before their time to FILE.N.foreseen
 *   --replay=FILE   follows one of them with kernel threads; --go-on: and lets the program end
 *   --schedule      prints decisions, too */
#include "event/engine.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 1 << 20, PREFIX = 1 << 20, FOUND = 64 << 20 };

static const char *const steps[] = {
#define DH_STEP(id, name) name,
#include "search/step.def"
#undef DH_STEP
};

struct wish {
    bool schedule;
    const char *save, *replay;
};

static uint32_t kinds(const char *list)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (strstr(list, dh_engine_end_names[i]))
            bits |= 1u << i;
    return bits;
}

static void make_visible(struct dh_engine_control *c, const char *list)
{
    if (!strcmp(list, "all"))
        c->job.flags |= DH_ENGINE_ALL_VISIBLE;
    else
        for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            dh_engine_visible(c)[strtoul(at, NULL, 10) % PLACES] = 1;
}

static void make_stale(struct dh_engine_control *c, const char *list)
{
    make_visible(c, list);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        dh_engine_adversary(c)[strtoul(at, NULL, 10) % PLACES] = DH_ENGINE_STALE;
}

static void read_visible(struct dh_engine_control *c, const char *path)
{
    FILE *f = fopen(path, "r");
    if (f && fread(dh_engine_visible(c), sizeof(dh_engine_marks), PLACES, f) != PLACES)
        fprintf(stderr, "%s: cut\n", path);
    if (f)
        fclose(f);
}

static void take_option(struct dh_engine_control *c, struct wish *w, int option, const char *value)
{
    struct dh_engine_job *j = &c->job;
    char *end;
    switch (option) {
    case 's':
        snprintf(j->strategy, sizeof j->strategy, "%s", value);
        break;
    case 'r':
        j->seed = strtoull(value, NULL, 10);
        break;
    case 'n':
        j->schedules_max = strtoull(value, NULL, 10);
        break;
    case 't':
        j->time_max_ns = (uint64_t)(atof(value) * 1e9);
        break;
    case 'd':
        j->depth_max = (uint32_t)atoi(value);
        break;
    case 'p':
        j->preemptions_max = (uint32_t)atoi(value);
        break;
    case 'v':
        make_visible(c, value);
        break;
    case 'm':
        snprintf(j->model, sizeof j->model, "%s", value);
        break;
    case 'a':
        make_stale(c, value);
        break;
    case 'y':
        j->flags |= DH_ENGINE_SYSTEMATIC;
        break;
    case 'c':
        j->flags |= DH_ENGINE_COLLECT;
        break;
    case 'l':
        j->look_for = kinds(value);
        break;
    case 'g':
        j->target_place[0] = (uint32_t)strtoul(value, &end, 10);
        j->target_place[1] = (uint32_t)strtoul(*end ? end + 1 : end, NULL, 10);
        break;
    case 'u':
        j->flags |= DH_ENGINE_SPURIOUS;
        break;
    case 'f':
        j->flags |= DH_ENGINE_STOP_AT_FIRST;
        break;
    case 'x':
        j->flags |= DH_ENGINE_NO_RACES;
        break;
    case 'o':
        j->flags |= DH_ENGINE_OUTPUT;
        break;
    case 'G':
        j->flags |= DH_ENGINE_GO_ON;
        break;
    case 'k':
        j->carrier = DH_ENGINE_KERNEL_THREADS;
        break;
    case 'K':
        j->flags |= DH_ENGINE_FORK;
        break;
    case 'A':
        j->flags |= DH_ENGINE_NO_FSGSBASE;
        break;
    case 'N':
        j->flags |= DH_ENGINE_NO_ORDER;
        break;
    case 'O':
        j->flags |= DH_ENGINE_NO_ORDER | DH_ENGINE_ONLY_VISIBLE;
        break;
    case 'H':
        j->flags |= DH_ENGINE_ONLY_VISIBLE;
        break;
    case 'U':
        j->flags |= DH_ENGINE_SPARE_BUSY;
        break;
    case 'E':
        j->flags |= DH_ENGINE_EXTEND;
        break;
    case 'T':
        j->flags |= DH_ENGINE_TRAP;
        break;
    case 'h':
        j->hang_ms = (uint32_t)atoi(value);
        break;
    case 'w':
        snprintf(j->then, sizeof j->then, "%s", value);
        break;
    case 'b':
        j->start = (uint32_t)atoi(value);
        break;
    case 'B':
        j->start_least = (uint32_t)atoi(value);
        break;
    case 'S':
        w->save = value;
        break;
    case 'R':
        w->replay = value;
        break;
    case 'P':
        w->schedule = true;
        break;
    default:
        exit(2);
    }
}

static const struct option options[] = {{"strategy", 1, 0, 's'},
                                        {"seed", 1, 0, 'r'},
                                        {"schedules", 1, 0, 'n'},
                                        {"seconds", 1, 0, 't'},
                                        {"depth", 1, 0, 'd'},
                                        {"preemptions", 1, 0, 'p'},
                                        {"visible", 1, 0, 'v'},
                                        {"target", 1, 0, 'g'},
                                        {"look-for", 1, 0, 'l'},
                                        {"spurious", 0, 0, 'u'},
                                        {"first", 0, 0, 'f'},
                                        {"no-races", 0, 0, 'x'},
                                        {"output", 0, 0, 'o'},
                                        {"go-on", 0, 0, 'G'},
                                        {"kernel-threads", 0, 0, 'k'},
                                        {"save", 1, 0, 'S'},
                                        {"replay", 1, 0, 'R'},
                                        {"schedule", 0, 0, 'P'},
                                        {"no-order", 0, 0, 'N'},
                                        {"extend", 0, 0, 'E'},
                                        {"no-fsgsbase", 0, 0, 'A'},
                                        {"fork", 0, 0, 'K'},
                                        {"trap", 0, 0, 'T'},
                                        {"hang-ms", 1, 0, 'h'},
                                        {"then", 1, 0, 'w'},
                                        {"model", 1, 0, 'm'},
                                        {"stale", 1, 0, 'a'},
                                        {"start", 1, 0, 'b'},
                                        {"start-least", 1, 0, 'B'},
                                        {"systematic", 0, 0, 'y'},
                                        {"collect", 0, 0, 'c'},
                                        {"only-visible", 0, 0, 'O'},
                                        {"spare-busy", 0, 0, 'U'},
                                        {"only-shared", 0, 0, 'H'},
                                        {0}};

static void read_schedule(struct dh_engine_control *c, const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(dh_engine_prefix(c), sizeof(struct dh_engine_decision), PREFIX, f) : 0;
    if (!f) {
        perror(path);
        exit(2);
    }
    fclose(f);
    char name[4096];
    snprintf(name, sizeof name, "%s.visible", path);
    read_visible(c, name);
    snprintf(name, sizeof name, "%s.foreseen", path);
    if ((f = fopen(name, "r"))) {
        c->n_foreseen = (uint32_t)fread(c->foreseen, sizeof *c->foreseen, DH_ENGINE_FORESEEN, f);
        fclose(f);
    }
    c->job.prefix_length = (uint32_t)n;
    c->job.mode = DH_ENGINE_REPLAY;
}

/* Those that were visible when the schedule was found. */
static void write_visible(struct dh_engine_control *c, const char *path, uint32_t added, uint32_t spared)
{
    FILE *f = fopen(path, "w");
    static dh_engine_marks visible[PLACES];
    memcpy(visible, dh_engine_visible(c), sizeof visible);
    for (uint32_t i = added; i < c->progress.visible_added; i++)
        visible[c->progress.added[i]] = 0;
    for (uint32_t i = spared; i < c->progress.n_spared; i++)
        visible[c->progress.spared[i]] = DH_ENGINE_VISIBLE;
    if (f && fwrite(visible, sizeof *visible, PLACES, f) != PLACES)
        perror(path);
    if (f)
        fclose(f);
}

static void write_array(const char *path, const void *at, size_t size, size_t n)
{
    FILE *out = fopen(path, "w");
    if (!out || fwrite(at, size, n, out) != n)
        perror(path);
    if (out)
        fclose(out);
}

static void write_schedule(struct dh_engine_control *c, const char *path, unsigned number,
                           const struct dh_engine_found *f)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%u.visible", path, number);
    write_visible(c, name, f->visible_added, f->spared);
    snprintf(name, sizeof name, "%s.%u", path, number);
    write_array(name, f->decisions, sizeof *f->decisions, f->n_decisions);
    snprintf(name, sizeof name, "%s.%u.foreseen", path, number);
    if (f->n_foreseen)
        write_array(name, f->foreseen, sizeof *f->foreseen, f->n_foreseen);
}

static void print_party(const char *before, const struct dh_engine_party *p)
{
    printf("%sthread %u: %s at place %u #%u, object %#lx, %u bytes\n", before, p->thread, steps[p->kind], p->place,
           p->occurrence, (unsigned long)p->object, p->size);
}

static void print_found(const struct dh_engine_found *f, const struct wish *w)
{
    printf("found %s: schedule %lu, %u decisions, %u threads, %.3f ms", dh_engine_end_names[f->kind],
           (unsigned long)f->schedule, f->n_decisions, f->threads, (double)f->time_ns / 1e6);
    if (f->signal)
        printf(", signal %d about %#lx", f->signal, (unsigned long)f->address);
    printf("%s%s\n", f->text[0] ? ": " : "", f->text);
    for (unsigned i = 0; i < f->n_parties && i < DH_ENGINE_PARTIES; i++)
        print_party("    ", &f->parties[i]);
    for (uint32_t i = 0; w->schedule && i < f->n_decisions; i++)
        printf("      %u %s place %u #%u way %u object %#lx\n", f->decisions[i].thread, steps[f->decisions[i].kind],
               f->decisions[i].place, f->decisions[i].occurrence, f->decisions[i].alternative,
               (unsigned long)f->decisions[i].object);
}

static int print_results(struct dh_engine_control *c, const struct wish *w)
{
    const struct dh_engine_progress *p = &c->progress;
    double seconds = (double)(p->now_ns - p->begun_ns) / 1e9;
    unsigned number = 0;
    printf("state: %s%s%s%s\n", dh_engine_state_name(p->state), p->is_exact ? " (all there is)" : "",
           p->text[0] ? ": " : "", p->text);
    for (unsigned i = 0; p->text[0] && i < 16 && p->stack[i]; i++)
        printf("    from +%#lx\n", (unsigned long)p->stack[i]);
    printf("schedules: %lu, steps: %lu, depth at most %u, threads at most %u, dirty pages %lu\n",
           (unsigned long)p->schedules, (unsigned long)p->steps, p->depth_most, p->threads_most,
           (unsigned long)p->dirty_pages);
    if (seconds > 0)
        printf("rate: %.0f schedules/s, %.0f steps/s, %.3f s; by CPU time %.0f schedules/s, %.0f steps/s\n",
               (double)p->schedules / seconds, (double)p->steps / seconds, seconds,
               (double)p->schedules * 1e9 / (double)p->cpu_ns, (double)p->steps * 1e9 / (double)p->cpu_ns);
    if (p->recorded_steps)
        printf("begun at step %lu of %lu%s\n", (unsigned long)p->started_at, (unsigned long)p->recorded_steps,
               p->again ? ", to begin anew" : "");
    if (p->hides)
        printf("hidden accesses; calls of hooks removed: %lu%s\n", (unsigned long)p->hooks_removed,
               p->hides_waiting ? "; somebody may wait for them" : "");
    if (p->n_spared)
        printf("spared: %u places\n", p->n_spared);
    if (p->hides && p->visible_added)
        printf("waited at: %u places\n", p->visible_added);
    if (p->restarts)
        printf("made visible: %u places, restarts: %u\n", p->visible_added, p->restarts);
    if (p->narrowed || p->unjustified || p->uncovered)
        printf("left out %lu, unjustified %lu%s\n", (unsigned long)p->narrowed, (unsigned long)p->unjustified,
               p->uncovered ? ", accesses race that are not visible" : "");
    if (p->redundant || p->bounded || p->nondeterministic || p->unfair || p->no_memory)
        printf("redundant %lu, bounded %lu, nondeterministic %lu, unfair %lu%s\n", (unsigned long)p->redundant,
               (unsigned long)p->bounded, (unsigned long)p->nondeterministic, (unsigned long)p->unfair,
               p->no_memory ? ", no memory" : "");
    printf("ends:");
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (p->ends[i])
            printf(" %s %lu", dh_engine_end_names[i], (unsigned long)p->ends[i]);
    printf("\n");
    if (p->state == DH_ENGINE_DIVERGED) {
        printf("diverged at decision %u\n", p->diverged_at);
        print_party("    instead: ", &p->diverged);
    }
    for (uint32_t i = 0; i < c->n_outcomes; i++)
        printf("outcome %d: %u times\n", c->outcomes[i].status, c->outcomes[i].times);
    const struct dh_engine_found *f;
    for (uint64_t at = 0; (f = dh_engine_found_at(c, at)); at += f->size) {
        print_found(f, w);
        if (w->save)
            write_schedule(c, w->save, number, f);
        number++;
    }
    return p->state >= DH_ENGINE_FINISHED && p->state != DH_ENGINE_CANNOT && p->state != DH_ENGINE_DIVERGED ? 0 : 1;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/drive-XXXXXX";
    uint64_t size = dh_engine_control_size(PLACES, PREFIX, FOUND);
    struct wish w = {0};
    int fd = mkstemp(path), option, status;
    if (fd < 0 || ftruncate(fd, (off_t)size))
        return perror(path), 2;
    struct dh_engine_control *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED)
        return perror("mmap"), 2;
    dh_engine_control_init(c, PLACES, PREFIX, FOUND);
    while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1)
        take_option(c, &w, option, optarg);
    if (w.replay)
        read_schedule(c, w.replay);
    if (optind == argc)
        return fprintf(stderr, "usage: drive [options] -- COMMAND...\n"), 2;
    setenv("DEADHEAT_ENGINE", path, 1);
    setenv("LD_BIND_NOW", "1", 1);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[optind], argv + optind);
        perror(argv[optind]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    unlink(path);
    if (WIFSIGNALED(status))
        printf("killed by signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        printf("exit %d\n", WEXITSTATUS(status));
    return print_results(c, &w);
}
