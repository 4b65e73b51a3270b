#include "runtime/engine/atomic_sections.h"

/* A section S is one step of a serial schedule. What another thread does after a conflicting access of S comes behind
 * S; if S then makes an access that conflicts with something that thread did since, S would come behind it, too. What
 * threads tell each other by other means is not followed: that misses some, and invents none. */

enum { OPEN = 16, ACCESSES = 32 };

struct section {
    uint32_t task, number;
    uint32_t n_own, n_others;
    struct dh_engine_party own[ACCESSES];    /* of the section so far */
    struct dh_engine_party others[ACCESSES]; /* of threads that are behind it */
    uint32_t n_behind, behind[ACCESSES];     /* those threads */
};

static struct sections {
    uint32_t n;
    struct section open[OPEN];
} *sections;

bool dh_atomic_sections_init(void)
{
    sections = dh_keep_alloc(sizeof *sections);
    return sections;
}

void dh_atomic_sections_begin(void)
{
    sections->n = 0;
}

static struct dh_engine_party party_of(const struct dh_step *s, uint32_t task)
{
    return (struct dh_engine_party){.thread = task,
                                    .place = s->site,
                                    .occurrence = s->occurrence,
                                    .size = s->size,
                                    .object = s->object,
                                    .kind = s->kind,
                                    .flags = s->flags};
}

static bool conflict(const struct dh_engine_party *a, const struct dh_engine_party *b)
{
    return ((a->flags | b->flags) & DH_STEP_WRITES) && a->object < b->object + b->size &&
           b->object < a->object + a->size;
}

static struct section *open_of(uint32_t task, uint32_t number)
{
    for (uint32_t i = 0; i < sections->n; i++)
        if (sections->open[i].task == task && sections->open[i].number == number)
            return &sections->open[i];
    return NULL;
}

static void enter(uint32_t task, uint32_t number)
{
    struct section *s = open_of(task, number);
    if (!s && sections->n == OPEN)
        return;
    s = s ? s : &sections->open[sections->n++];
    s->task = task;
    s->number = number;
    s->n_own = s->n_others = s->n_behind = 0;
}

static void leave(struct section *s)
{
    *s = sections->open[--sections->n];
}

static bool is_behind(const struct section *s, uint32_t task)
{
    for (uint32_t i = 0; i < s->n_behind; i++)
        if (s->behind[i] == task)
            return true;
    return false;
}

/* Another thread's access while the section is open. */
static void see_other(struct section *s, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < s->n_own && !is_behind(s, p->thread) && s->n_behind < ACCESSES; i++)
        if (conflict(&s->own[i], p))
            s->behind[s->n_behind++] = p->thread;
    if (is_behind(s, p->thread) && s->n_others < ACCESSES)
        s->others[s->n_others++] = *p;
}

static const struct dh_engine_party *first_before(const struct section *s, const struct dh_engine_party *other)
{
    for (uint32_t i = 0; i < s->n_own; i++)
        if (conflict(&s->own[i], other))
            return &s->own[i];
    return &s->own[0];
}

/* An access of the section itself: the first one, the other thread's and this one are the parties. */
static void see_own(struct section *s, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < s->n_others && s->n_own; i++)
        if (conflict(&s->others[i], p)) {
            struct dh_engine_party parties[3] = {*first_before(s, &s->others[i]), s->others[i], *p};
            dh_found_parties(DH_ENGINE_ATOMICITY, parties, 3);
            break;
        }
    if (s->n_own < ACCESSES)
        s->own[s->n_own++] = *p;
}

void dh_atomic_sections_access(const struct dh_step *step, uint8_t marks)
{
    uint32_t task = dh_engine->current->index, number = marks >> DH_ENGINE_SECTION_SHIFT;
    struct dh_engine_party p = party_of(step, task);
    if (marks & DH_ENGINE_SECTION_ENTRY)
        enter(task, number);
    for (uint32_t i = 0; i < sections->n; i++)
        (sections->open[i].task == task ? see_own : see_other)(&sections->open[i], &p);
    struct section *s = marks & DH_ENGINE_SECTION_END ? open_of(task, number) : NULL;
    if (s && !(marks & DH_ENGINE_SECTION_ENTRY))
        leave(s);
}
