#include "check/idle_program.h"

#include "host/deadline.h"
#include "host/live_places.h"

#include <stdio.h>
#include <string.h>

#define LOOK_EVERY 250000000ull
#define WORKS_LONG 5000000000ull /* where it is then is worth a line */
#define STILL 3000000000ull      /* what waits for so long, and only for itself, is stuck */

static void set_places(struct dh_stage_state *t, pid_t stage)
{
    struct dh_str places = {0};
    dh_str_add(&places, "");
    dh_live_places(stage, &places);
    snprintf(t->waits, sizeof t->waits, "%s", places.at);
    dh_str_release(&places);
}

void dh_idle_program_where(struct dh_stage_state *t, pid_t stage)
{
    if (t->waits[0])
        return;
    set_places(t, stage);
    t->works = t->waits[0];
}

/* Where it waits is said at once: the user may know what it waits for. */
static void report(struct dh_idle_program *p, const struct dh_stage *s, struct dh_stage_state *t, pid_t stage,
                   uint64_t so_far_ns)
{
    char line[DH_STAGE_WORDS + 32];
    set_places(t, stage);
    snprintf(line, sizeof line, "the program waits %s", t->waits);
    if (s->still)
        s->still(s->name, so_far_ns, line);
    p->reported = true;
}

/* Once, of one that takes long: it may spin, or work. */
static void report_work(struct dh_idle_program *p, const struct dh_stage *s, struct dh_stage_state *t, pid_t stage,
                        uint64_t so_far_ns)
{
    char line[DH_STAGE_WORDS + 32];
    set_places(t, stage);
    snprintf(line, sizeof line, "the program works %s", t->waits);
    if (s->still && t->waits[0])
        s->still(s->name, so_far_ns, line);
    t->waits[0] = 0;
    p->works = true;
}

bool dh_idle_program_look(struct dh_idle_program *p, const struct dh_stage *s, struct dh_stage_state *t, pid_t stage,
                          uint64_t so_far_ns)
{
    uint64_t now = dh_now_ns();
    if (!s->idle_ns || now - p->looked_ns < LOOK_EVERY)
        return false;
    p->looked_ns = now;
    uint64_t idle = dh_idle_look(&p->idle, stage, now);
    if (!idle) {
        p->reported = false;
        t->waits[0] = 0;
        p->outside_ns = p->time_ns = now;
        if (so_far_ns >= WORKS_LONG && !p->works && dh_idle_is_alone(stage))
            report_work(p, s, t, stage, so_far_ns);
        return false;
    }
    enum dh_waiting waiting = dh_idle_waiting(stage);
    p->outside_ns = waiting == DH_WAITING_FOR_OUTSIDE ? now : p->outside_ns;
    p->time_ns = waiting != DH_WAITING_FOR_EACH_OTHER ? now : p->time_ns;
    if (idle >= STILL && !p->reported)
        report(p, s, t, stage, so_far_ns);
    t->hangs = now - p->time_ns >= STILL;
    return t->hangs || now - p->outside_ns >= s->idle_ns;
}
