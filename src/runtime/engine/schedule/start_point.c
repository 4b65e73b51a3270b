#include "runtime/engine/schedule/start_point.h"

#include "base/random.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/schedule/meetings.h"
#include "runtime/engine/schedule/undisturbed.h"
#include "runtime/engine/system/time/time.h"

enum { LONG = 5000, POLLS = 256, TURNS = 128, BUSY = 1000, NEVER = UINT32_MAX };
#define SLOW_NS 10000000ull /* of the processor */

/* Steps of the recorded run, by task: the first and the last at a visible place, and the last of all. */
struct visits {
    uint32_t first, last, end;
};

static struct start_point {
    struct visits visits[DH_ENGINE_TASKS];
    uint32_t tasks, steps, polls;
    bool is_slow;
    struct dh_meetings meetings;
    uint32_t *times; /* steps of the recorded run at each place; NULL: they are not counted */
    struct {         /* from child to parent */
        struct dh_search search;
        void *strategy_self;
        struct dh_coverage *coverage;
        char *search_next, *lasting;
        bool goal_reached;
    } handed;
} *point;

bool dh_start_point_init(void)
{
    point = dh_keep_lasting(sizeof *point);
    if (point && dh_engine->flags & DH_ENGINE_SPARE_BUSY)
        point->times = dh_keep_lasting(dh_engine->n_visible * sizeof *point->times);
    return point;
}

/* Output that is not thrown away would come twice. Systematic searches begin at the first step of a run that is only
 * slow: all its schedules may still be few. */
bool dh_start_point_is_wanted(const struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    bool is_only_slow = job->start_quantum && job->start_quantum < DH_UNDISTURBED_QUANTUM;
    if (e->strategy->is_systematic && is_only_slow)
        return false;
    return job->start && job->mode == DH_ENGINE_EXPLORE && !job->model[0] && !e->carrier->is_kernel &&
           !(e->flags & (DH_ENGINE_FORK | DH_ENGINE_OUTPUT)) && !e->undisturbed;
}

static uint32_t least(const struct dh_engine *e)
{
    return e->control->job.start_least ? e->control->job.start_least : LONG;
}

void dh_start_point_note(const struct dh_engine *e, uint32_t task, const struct dh_step *s)
{
    struct visits *v = &point->visits[task];
    if (!e->depth) {
        point->tasks = 0;
        dh_meetings_begin(&point->meetings);
    }
    for (; point->tasks <= task; point->tasks++)
        point->visits[point->tasks] = (struct visits){NEVER, 0, 0};
    v->end = point->steps = e->depth;
    if (!s->site || s->site >= e->n_visible || !e->visible[s->site])
        return;
    v->last = e->depth;
    v->first = v->first == NEVER ? e->depth : v->first;
    dh_meetings_note(&point->meetings, e->depth, task, s);
    if (point->times && s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY)
        point->times[s->site]++;
}

static bool spare(struct dh_engine *e, uint32_t place)
{
    struct dh_engine_progress *p = &e->control->progress;
    bool is_plain = e->visible[place] == DH_ENGINE_VISIBLE;
    if (!is_plain || p->n_spared == DH_ENGINE_SPARED)
        return false;
    e->visible[place] = 0;
    p->spared[p->n_spared++] = place;
    return true;
}

bool dh_start_point_spare_busy(struct dh_engine *e)
{
    bool any = false;
    for (uint32_t i = 0; point->times && e->hides && i < e->n_visible; i++) {
        any |= point->times[i] > BUSY && spare(e, i);
        point->times[i] = 0;
    }
    return any;
}

/* A run may have few steps, and take long between them. */
static bool is_slow(const struct dh_engine *e)
{
    return !e->strategy->is_systematic && dh_clock_process_cpu_ns() >= SLOW_NS;
}

bool dh_start_point_is_long(const struct dh_engine *e)
{
    point->is_slow = is_slow(e);
    return e->depth >= least(e) || point->is_slow;
}

bool dh_start_point_is_late(const struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    if (++point->polls % POLLS)
        return false;
    return __atomic_load_n(&e->control->stop, __ATOMIC_RELAXED) ||
           (job->start_max_ns && dh_clock_monotonic_ns() - e->control->progress.begun_ns > job->start_max_ns);
}

/* ---- choosing ---- */

struct span {
    uint32_t first, last, tasks; /* last: from there on only one task comes */
};

static void add_task(struct span *s, uint32_t *latest, uint32_t first, uint32_t last)
{
    s->first = first < s->first ? first : s->first;
    s->tasks++;
    if (last > *latest) {
        s->last = *latest;
        *latest = last;
    } else if (last > s->last)
        s->last = last;
}

/* Of visits of visible places, or of all steps but main's. */
static struct span span_of(bool visible)
{
    struct span s = {.first = NEVER};
    uint32_t latest = 0;
    for (uint32_t i = 0; i < point->tasks; i++) {
        const struct visits *v = &point->visits[i];
        if (visible && v->first != NEVER)
            add_task(&s, &latest, v->first, v->last);
        if (!visible && i && v->end)
            add_task(&s, &latest, 0, v->end);
    }
    return s;
}

static bool is_only_slow(const struct dh_engine *e)
{
    return point->is_slow && point->steps < least(e);
}

/* Of a run of few steps quanta must be shorter, or it would be over after some turns. */
bool dh_start_point_refine(struct dh_engine *e)
{
    uint32_t quantum = point->steps / TURNS;
    if (!is_only_slow(e) || span_of(true).tasks < 2 || e->quantum != DH_UNDISTURBED_QUANTUM)
        return false;
    e->quantum = quantum ? quantum : 1;
    return true;
}

/* So early that the others are before their visits, too: each is at most its quantum ahead. */
static uint32_t before(const struct dh_engine *e, uint32_t step, uint32_t tasks)
{
    uint32_t margin = e->quantum * (tasks + 1);
    return step > margin ? step - margin : point->is_slow;
}

/* As many as there is room for, spread over all that there are. */
static void choose_near(const struct dh_engine *e, uint32_t tasks)
{
    struct dh_engine_progress *p = &e->control->progress;
    const struct dh_meetings *m = &point->meetings;
    uint32_t n = m->n < DH_ENGINE_NEAR ? m->n : DH_ENGINE_NEAR;
    for (p->n_near = 0; p->n_near < n; p->n_near++)
        p->start_near[p->n_near] = before(e, m->at[(uint64_t)p->n_near * m->n / n].step, tasks);
}

static uint32_t step_of(const struct dh_engine_job *job, uint32_t first, uint32_t last, const uint32_t *near,
                        uint32_t n_near)
{
    if (job->start == DH_ENGINE_BEFORE_FIRST && first)
        return first;
    if (job->start == DH_ENGINE_IN_BETWEEN && n_near && last)
        return near[(job->seed * DH_SPLITMIX_STEP >> 32) * n_near >> 32];
    if (job->start == DH_ENGINE_IN_BETWEEN && last)
        return (uint32_t)((job->seed * DH_SPLITMIX_STEP >> 32) * last >> 32);
    return last;
}

uint32_t dh_start_point_choose(const struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    struct span s = span_of(true);
    /* Of a run of few steps all are of interest, as long as it is not known which. */
    if (point->steps < least(e) && (!point->is_slow || s.tasks < 2))
        return 0;
    e->control->progress.recorded_steps = point->steps;
    e->control->progress.start_quantum = e->quantum;
    if (s.tasks < 2)
        s = span_of(false);
    e->control->progress.start_last = before(e, s.last, s.tasks);
    e->control->progress.start_first = before(e, s.first, s.tasks);
    choose_near(e, s.tasks);
    const struct dh_engine_progress *p = &e->control->progress;
    return step_of(job, p->start_first, p->start_last, p->start_near, p->n_near);
}

uint32_t dh_start_point_known(const struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    return step_of(job, job->start_first, job->start_last, job->start_near, job->n_near);
}

void dh_start_point_forget_time(struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    struct dh_engine_progress *p = &e->control->progress;
    uint64_t now = dh_clock_monotonic_ns(), took = now - p->begun_ns, all = 4 * job->start_max_ns;
    uint64_t left = took < all ? all - took : 0, used = left < job->time_max_ns ? job->time_max_ns - left : 0;
    p->begun_ns = all ? now - used : now;
}

/* ---- between processes ---- */

void dh_start_point_hand_over(const struct dh_engine *e)
{
    point->handed.search = e->search;
    point->handed.strategy_self = e->strategy_self;
    point->handed.coverage = e->coverage;
    point->handed.search_next = e->search_next;
    point->handed.lasting = e->lasting;
    point->handed.goal_reached = e->goal_reached;
}

void dh_start_point_take_over(struct dh_engine *e)
{
    e->search = point->handed.search;
    e->strategy_self = point->handed.strategy_self;
    e->coverage = point->handed.coverage;
    e->search_next = point->handed.search_next;
    e->lasting = point->handed.lasting;
    e->goal_reached = point->handed.goal_reached;
}
