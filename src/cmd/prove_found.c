/* What a run found, proven right away: for commands whose main job is another. */
#include "cmd/launch.h"
#include "cmd/prove_goals.h"

#include "cmd/command.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct proving {
    const char *db;
    char *folder;
    struct dh_subject subject;
    unsigned proven;
};

static volatile sig_atomic_t asked_to_stop;

static void stop_soon(int signal)
{
    (void)signal;
    asked_to_stop = 1;
}

static bool interrupted(void *arg)
{
    (void)arg;
    return asked_to_stop;
}

static void progress(void *arg, const struct dh_campaign_state *s)
{
    (void)arg, (void)s;
}

static bool proven(void *arg, const struct dh_proof *proof)
{
    struct proving *p = arg;
    struct dh_err err = {0};
    char *path;
    bool ok = dh_proof_keep(proof, &p->subject, p->db, p->folder, &path, &err);
    p->proven += ok;
    if (!ok)
        dh_fail(&err, 0);
    free(path);
    return ok;
}

bool dh_read_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && isdigit((unsigned char)text[0]) && strcmp(end, units[i].unit) == 0 &&
            value * units[i].ns < 1e18) {
            *ns = (uint64_t)(value * units[i].ns);
            return *ns > 0;
        }
    return false;
}

char *dh_witness_folder(const char *db)
{
    return dh_format("%.*switnesses", (int)(dh_basename(db) - db), db);
}

static void search(struct proving *p, const char *command, struct dh_goals *goals, uint64_t budget_ns)
{
    struct dh_campaign_options o = {
        .budget_ns = budget_ns, .jobs = 1, .shards = 1, .seed = 1, .preemptions = UINT32_MAX};
    struct dh_campaign_host host = {progress, proven, NULL, interrupted, p};
    struct dh_campaign_result r;
    struct dh_err err = {0};
    struct sigaction stop = {.sa_handler = stop_soon}, old;
    sigaction(SIGINT, &stop, &old);
    bool ok = dh_campaign(&p->subject, &o, goals->goals.at, goals->goals.n, &host, &r, &err);
    sigaction(SIGINT, &old, NULL);
    if (!ok && err.text)
        dh_fail(&err, 0);
    else if (r.cannot)
        dh_complain("%s: nothing is proven: %s", command, r.cannot);
    dh_campaign_result_release(&r);
}

static void prove_run(struct proving *p, const char *command, long long run, uint64_t budget_ns)
{
    struct dh_goals goals;
    struct dh_goals_wanted wanted = {.db = p->db, .run = run, .program = p->subject.program, .build = p->subject.build};
    struct dh_err err = {0};
    unsigned already;
    if (!dh_goals_read(&goals, &wanted, &already, &err))
        dh_fail(&err, 0);
    else if (goals.goals.n)
        search(p, command, &goals, budget_ns);
    dh_goals_release(&goals);
}

unsigned dh_prove_found(const char *command, const char *db, long long run, char **argv, uint64_t budget_ns)
{
    struct proving p = {.db = db, .folder = dh_witness_folder(db)};
    struct dh_launch l = {.command = command, .plan = "engine", .detect = "none", .argv = argv};
    struct dh_err err = {0};
    int code;
    char *program, *variant = dh_launch_variant(&l, &program, &code);
    if (variant && dh_subject_open(&p.subject, program, variant, argv, NULL, &err))
        prove_run(&p, command, run, budget_ns);
    else if (err.text)
        dh_fail(&err, 0);
    if (variant) {
        dh_subject_release(&p.subject);
        free(variant);
        free(program);
    }
    free(p.folder);
    return p.proven;
}
