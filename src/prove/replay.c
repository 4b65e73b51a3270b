#include "prove/replay.h"

#include "base/alloc.h"
#include "prove/end_finding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 20, FOUND = 64u << 10, LOOSE_FOUND = 40u << 20, LOOSE_DEPTH = 20000 };

static struct dh_engine_request work_of(const struct dh_schedule *s, unsigned how, uint64_t patience_ns)
{
    struct dh_engine_request w = {
        .visible = s->visible,
        .adversary = s->adversary,
        .prefix = s->decisions,
        .prefix_length = s->n,
        .found_bytes =
            how & DH_REPLAY_LOOSE ? LOOSE_FOUND : FOUND + 2 * (s->n + 64) * (sizeof *s->decisions + sizeof *s->values),
        .output = how & DH_REPLAY_SHOW ? DH_OUTPUT_INHERITED : DH_OUTPUT_DISCARDED};
    w.job = (struct dh_engine_job){.mode = DH_ENGINE_REPLAY,
                                   .carrier = DH_ENGINE_KERNEL_THREADS,
                                   .seed = 1,
                                   .time_max_ns = patience_ns,
                                   .preemptions_max = UINT32_MAX,
                                   .target_held = UINT32_MAX,
                                   .flags = (s->flags & (DH_ENGINE_SPURIOUS | DH_ENGINE_ALL_VISIBLE |
                                                         DH_ENGINE_ONLY_VISIBLE | DH_ENGINE_WATCHDOGS)) |
                                            DH_ENGINE_OUTPUT | DH_ENGINE_NO_ORDER | DH_ENGINE_CONTEXTS};
    strcpy(w.job.strategy, "random");
    w.job.flags |= how & DH_REPLAY_GO_ON ? DH_ENGINE_GO_ON : 0;
    w.job.flags |= how & DH_REPLAY_NO_RACES ? DH_ENGINE_NO_RACES : 0;
    w.job.flags |= how & DH_REPLAY_LOOSE ? DH_ENGINE_LOOSE | DH_ENGINE_NO_RACES : 0;
    w.job.flags |= how & DH_REPLAY_TRAP ? DH_ENGINE_TRAP : 0;
    w.job.flags |= how & DH_REPLAY_FOR_REAL ? DH_ENGINE_FOR_REAL : 0;
    if (how & DH_REPLAY_LOOSE)
        w.job.depth_max = 4 * s->n + LOOSE_DEPTH;
    if (how & DH_REPLAY_TRAP)
        w.job.time_max_ns = 0;
    return w;
}

static void read_output(int file, struct dh_str *out)
{
    char buffer[4096];
    ssize_t n;
    lseek(file, 0, SEEK_SET);
    dh_str_add(out, "");
    while (out->n < OUTPUT_MOST && (n = read(file, buffer, sizeof buffer)) > 0)
        dh_str_add_n(out, buffer, (size_t)n);
}

static void read_ends(struct dh_engine_control *c, struct dh_replayed *out)
{
    const struct dh_engine_found *f;
    for (uint64_t at = 0; (f = dh_engine_found_at(c, at));) {
        struct dh_engine_found *copy = dh_found_end_copy(f, c->found_size - at);
        if (!copy)
            return;
        dh_vec_push(&out->ends, copy);
        at += copy->size;
    }
}

static void read_region(struct dh_engine_control *c, struct dh_replayed *out)
{
    out->state = c->progress.state;
    out->carrier = c->progress.carrier;
    out->diverged_at = c->progress.diverged_at;
    out->diverged = c->progress.diverged;
    memcpy(out->text, c->progress.text, sizeof out->text);
    out->text[sizeof out->text - 1] = 0;
    out->progress = dh_xmemdup(&c->progress, sizeof c->progress);
    out->libraries = dh_xmemdup(c->libraries, sizeof c->libraries);
    out->n_libraries = c->n_libraries;
    read_ends(c, out);
}

static bool replay(const struct dh_subject_start *start, struct dh_engine_request work, unsigned how,
                   uint64_t patience_ns, struct dh_replayed *out, struct dh_err *err)
{
    int file = -1;
    *out = (struct dh_replayed){0};
    if (how & DH_REPLAY_CAPTURE)
        work.output = file = memfd_create("output", MFD_CLOEXEC);
    struct dh_engine_process *c = dh_engine_process_start(start, &work, err);
    if (c) {
        out->in_time = dh_engine_process_wait(c, patience_ns);
        out->status = dh_engine_process_status(c);
        read_region(dh_engine_process_region(c), out);
    }
    if (c && file >= 0)
        read_output(file, &out->output);
    if (file >= 0)
        close(file);
    bool started = c != NULL;
    dh_engine_process_free(c);
    return started;
}

bool dh_replay(const struct dh_subject_start *start, const struct dh_schedule *s, unsigned how, uint64_t patience_ns,
               struct dh_replayed *out, struct dh_err *err)
{
    return replay(start, work_of(s, how, patience_ns), how, patience_ns, out, err);
}

static bool is_pair_of(const struct dh_engine_found *f, const struct dh_engine_found *pair)
{
    return f->kind == DH_ENGINE_UNORDERED &&
           dh_engine_signature(f->kind, f->parties, f->n_parties, f->text) ==
               dh_engine_signature(pair->kind, pair->parties, pair->n_parties, pair->text);
}

struct dh_engine_found *dh_replay_unordered(const struct dh_subject_start *start, const struct dh_schedule *s,
                                            const struct dh_engine_found *pair, uint64_t patience_ns)
{
    struct dh_engine_request work = work_of(s, DH_REPLAY_NO_RACES, patience_ns);
    struct dh_engine_found *out = NULL;
    struct dh_err ignored = {0};
    struct dh_replayed r;
    work.job.flags &= ~(uint32_t)DH_ENGINE_NO_ORDER;
    work.job.look_for = 1u << DH_ENGINE_UNORDERED;
    for (unsigned i = 0; i < 2; i++)
        work.job.target_place[i] = pair->parties[i].place;
    replay(start, work, 0, patience_ns, &r, &ignored);
    for (size_t i = 0; i < r.ends.n && !out; i++)
        if (is_pair_of(r.ends.at[i], pair))
            out = dh_found_end_copy(r.ends.at[i], r.ends.at[i]->size);
    dh_replayed_release(&r);
    dh_err_release(&ignored);
    return out;
}

void dh_replayed_release(struct dh_replayed *r)
{
    for (size_t i = 0; i < r->ends.n; i++)
        free(r->ends.at[i]);
    dh_vec_release(&r->ends);
    free(r->progress);
    free(r->libraries);
    dh_str_release(&r->output);
    *r = (struct dh_replayed){0};
}

const struct dh_engine_found *dh_replayed_find(const struct dh_replayed *r, const struct dh_engine_found *end)
{
    if (r->state != DH_ENGINE_REPLAYED || r->carrier != DH_ENGINE_KERNEL_THREADS)
        return NULL;
    for (size_t i = 0; i < r->ends.n; i++)
        if (dh_end_is_same(r->ends.at[i], end))
            return r->ends.at[i];
    return NULL;
}

const struct dh_engine_found *dh_replayed_find_equivalent(const struct dh_replayed *r,
                                                          const struct dh_engine_found *end)
{
    const struct dh_engine_found *same = dh_replayed_find(r, end);
    uint64_t signature = dh_engine_signature(end->kind, end->parties, end->n_parties, end->text);
    if (same || r->state != DH_ENGINE_REPLAYED || r->carrier != DH_ENGINE_KERNEL_THREADS)
        return same;
    for (size_t i = 0; i < r->ends.n; i++) {
        const struct dh_engine_found *e = r->ends.at[i];
        if (e->kind == end->kind && dh_engine_signature(e->kind, e->parties, e->n_parties, e->text) == signature)
            return e;
    }
    return NULL;
}

struct dh_engine_value *dh_replay_values(const struct dh_engine_found *end, uint32_t n)
{
    const struct dh_engine_value *from = dh_engine_found_values(end);
    return from && n <= end->n_values ? dh_xmemdup(from, n * sizeof *from) : NULL;
}

void dh_replayed_explain(struct dh_str *out, const struct dh_replayed *r)
{
    if (!r->in_time)
        dh_str_addf(out, "it did not end in time (%s)", dh_engine_state_name(r->state));
    else if (r->state == DH_ENGINE_DIVERGED && r->diverged_at != UINT32_MAX)
        dh_str_addf(out, "the program went another way at step %u", r->diverged_at + 1);
    else if (r->state == DH_ENGINE_CANNOT)
        dh_str_addf(out, "%s", r->text);
    else if (r->carrier != DH_ENGINE_KERNEL_THREADS)
        dh_str_add(out, "it did not run with kernel threads");
    else if (r->ends.n)
        dh_str_addf(out, "it came to another end: %s",
                    r->ends.at[0]->kind < DH_ENGINE_ENDS ? dh_engine_end_names[r->ends.at[0]->kind] : "?");
    else if (r->state == DH_ENGINE_REPLAYED)
        dh_str_add(out, "the program made all its steps and did not come to this end");
    else
        dh_str_addf(out, "it came to no such end (%s%s%s)", dh_engine_state_name(r->state), r->text[0] ? ": " : "",
                    r->text);
}
