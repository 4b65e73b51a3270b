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
    /* What no serial schedule has, by whether the other thread wrote: the section's first access, the other's, and the
     * section's that conflicts with it. How the section ends decides whether that is told. */
    bool is_broken[2];
    struct dh_engine_party broken[2][3];
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
    s->is_broken[0] = s->is_broken[1] = false;
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

static void note_broken(struct section *s, const struct dh_engine_party *other, const struct dh_engine_party *p)
{
    bool wrote = other->flags & DH_STEP_WRITES;
    if (s->is_broken[wrote])
        return;
    s->is_broken[wrote] = true;
    s->broken[wrote][0] = *first_before(s, other);
    s->broken[wrote][1] = *other;
    s->broken[wrote][2] = *p;
}

/* An access of the section itself. */
static void see_own(struct section *s, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < s->n_others && s->n_own; i++)
        if (conflict(&s->others[i], p))
            note_broken(s, &s->others[i], p);
    if (s->n_own < ACCESSES)
        s->own[s->n_own++] = *p;
}

static void conclude(const struct section *s, dh_engine_marks marks)
{
    const unsigned allows[2] = {DH_ENGINE_SECTION_ALLOW_READ, DH_ENGINE_SECTION_ALLOW_WRITE};
    for (unsigned wrote = 0; wrote < 2; wrote++)
        if (s->is_broken[wrote] && !(marks & allows[wrote]))
            dh_found_ends_record(DH_ENGINE_ATOMICITY, s->broken[wrote], 3);
}

void dh_atomic_sections_access(const struct dh_step *step, dh_engine_marks marks)
{
    uint32_t task = dh_engine->current->index;
    uint32_t ends = marks >> DH_ENGINE_SECTION_END_SHIFT & DH_ENGINE_SECTION_NUMBER;
    struct dh_engine_party p = party_of(step, task);
    for (uint32_t i = 0; i < sections->n; i++)
        (sections->open[i].task == task ? see_own : see_other)(&sections->open[i], &p);
    struct section *s = marks & (DH_ENGINE_SECTION_END | DH_ENGINE_SECTION_EXIT) ? open_of(task, ends) : NULL;
    if (s && marks & DH_ENGINE_SECTION_END)
        conclude(s, marks);
    if (s)
        leave(s);
    if (marks & DH_ENGINE_SECTION_ENTRY) {
        uint32_t begins = marks >> DH_ENGINE_SECTION_ENTRY_SHIFT & DH_ENGINE_SECTION_NUMBER;
        enter(task, begins);
        if ((s = open_of(task, begins)))
            see_own(s, &p);
    }
}
