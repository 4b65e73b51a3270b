#include "event/engine.h"

#include "base/random.h"

enum { ALIGN = 64 };

const char *const dh_engine_end_names[DH_ENGINE_ENDS] = {
    [DH_ENGINE_DONE] = "done",
    [DH_ENGINE_RACE] = "race",
    [DH_ENGINE_DEADLOCK] = "deadlock",
    [DH_ENGINE_LOST_WAKE] = "lost-wakeup",
    [DH_ENGINE_ASSERTION] = "assertion",
    [DH_ENGINE_CRASH] = "crash",
    [DH_ENGINE_FREED] = "use-after-free",
    [DH_ENGINE_HANG] = "hang",
    [DH_ENGINE_ATOMICITY] = "atomicity",
    [DH_ENGINE_UNORDERED] = "unordered",
    [DH_ENGINE_CUT] = "cut",
    [DH_ENGINE_WRONG] = "wrong-result",
};

const char *dh_engine_state_name(uint32_t state)
{
    static const char *const names[] = {
        [DH_ENGINE_STARTING] = "starting",     [DH_ENGINE_SEQUENTIAL] = "sequential", [DH_ENGINE_RUNNING] = "running",
        [DH_ENGINE_EXHAUSTED] = "exhausted",   [DH_ENGINE_SPENT] = "budget spent",    [DH_ENGINE_STOPPED] = "stopped",
        [DH_ENGINE_NO_THREADS] = "no threads", [DH_ENGINE_REPLAYED] = "replayed",     [DH_ENGINE_DIVERGED] = "diverged",
        [DH_ENGINE_CANNOT] = "cannot explore",
    };
    return state < sizeof names / sizeof *names ? names[state] : "?";
}

static uint64_t aligned(uint64_t n)
{
    return (n + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

uint64_t dh_engine_control_size(uint32_t places, uint32_t prefix, uint64_t found)
{
    return aligned(sizeof(struct dh_engine_control)) + aligned((uint64_t)places * sizeof(dh_engine_marks)) +
           aligned(places) + aligned((uint64_t)prefix * sizeof(struct dh_engine_decision)) + aligned(found);
}

void dh_engine_control_init(struct dh_engine_control *c, uint32_t places, uint32_t prefix, uint64_t found)
{
    c->magic = DH_ENGINE_MAGIC;
    c->version = DH_ENGINE_VERSION;
    c->size = dh_engine_control_size(places, prefix, found);
    c->visible_at = aligned(sizeof *c);
    c->visible_size = places;
    c->adversary_at = c->visible_at + aligned((uint64_t)places * sizeof(dh_engine_marks));
    c->adversary_size = places;
    c->prefix_at = c->adversary_at + aligned(places);
    c->prefix_size = (uint64_t)prefix * sizeof(struct dh_engine_decision);
    c->found_at = c->prefix_at + aligned(c->prefix_size);
    c->found_size = aligned(found);
    c->job.seed = 1;
    c->job.preemptions_max = UINT32_MAX;
    c->job.target_held = UINT32_MAX;
    __builtin_memcpy(c->job.strategy, "random", sizeof "random");
}

/* A sum does not depend on the order. An assertion fails at its line, wherever its thread was seen last. */
uint64_t dh_engine_signature(uint32_t kind, const struct dh_engine_party *parties, uint32_t n, const char *text)
{
    uint64_t sum = (uint64_t)kind + 1;
    if (kind == DH_ENGINE_ASSERTION && text[0]) {
        for (; *text && *text != '\n'; text++)
            sum = dh_splitmix(sum + (unsigned char)*text);
        return sum | 1;
    }
    for (uint32_t i = 0; i < n && i < DH_ENGINE_PARTIES; i++)
        sum += dh_splitmix((uint64_t)parties[i].kind << 32 | parties[i].place);
    return dh_splitmix(sum) | 1;
}

static bool within(const struct dh_engine_control *c, uint64_t at, uint64_t size)
{
    return at >= sizeof *c && at <= c->size && size <= c->size - at;
}

bool dh_engine_control_valid(const struct dh_engine_control *c, uint64_t size)
{
    return size >= sizeof *c && c->magic == DH_ENGINE_MAGIC && c->version == DH_ENGINE_VERSION && c->size <= size &&
           c->n_outcomes <= DH_ENGINE_OUTCOMES && c->visible_size <= UINT32_MAX &&
           within(c, c->visible_at, c->visible_size * sizeof(dh_engine_marks)) &&
           within(c, c->adversary_at, c->adversary_size) && within(c, c->prefix_at, c->prefix_size) &&
           within(c, c->found_at, c->found_size) &&
           c->job.prefix_length <= c->prefix_size / sizeof(struct dh_engine_decision);
}
