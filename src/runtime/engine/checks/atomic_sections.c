#include "runtime/engine/checks/atomic_sections.h"

/* A section S is one step of a serial schedule. A thread that makes an access after a conflicting one of S must come
 * after S; if S then makes an access that conflicts with one that this thread made since, S must come after it, too: a
 * cycle. Order through third threads is not followed, which misses cycles and invents none. */

enum { OPEN = 16, ACCESSES = 32 };

struct section {
    uint32_t task, number;
    uint32_t n_own, n_others;
    struct dh_engine_party own[ACCESSES];    /* of the section so far */
    struct dh_engine_party others[ACCESSES]; /* of threads that must come after it */
    uint32_t n_after, after[ACCESSES];       /* those threads */
    /* A cycle, by whether the other thread wrote: the section's first access, the other's, and the section's that
     * conflicts with it. Whether it is reported depends on the end of the section. */
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

static struct section *find_open(uint32_t task, uint32_t number)
{
    for (uint32_t i = 0; i < sections->n; i++)
        if (sections->open[i].task == task && sections->open[i].number == number)
            return &sections->open[i];
    return NULL;
}

static void enter(uint32_t task, uint32_t number)
{
    struct section *s = find_open(task, number);
    if (!s && sections->n == OPEN)
        return;
    s = s ? s : &sections->open[sections->n++];
    s->task = task;
    s->number = number;
    s->n_own = s->n_others = s->n_after = 0;
    s->is_broken[0] = s->is_broken[1] = false;
}

static void leave(struct section *s)
{
    *s = sections->open[--sections->n];
}

static bool is_after(const struct section *s, uint32_t task)
{
    for (uint32_t i = 0; i < s->n_after; i++)
        if (s->after[i] == task)
            return true;
    return false;
}

/* Another thread's access while the section is open. */
static void access_by_other(struct section *s, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < s->n_own && !is_after(s, p->thread) && s->n_after < ACCESSES; i++)
        if (conflict(&s->own[i], p))
            s->after[s->n_after++] = p->thread;
    if (is_after(s, p->thread) && s->n_others < ACCESSES)
        s->others[s->n_others++] = *p;
}

static const struct dh_engine_party *first_conflicting(const struct section *s, const struct dh_engine_party *other)
{
    for (uint32_t i = 0; i < s->n_own; i++)
        if (conflict(&s->own[i], other))
            return &s->own[i];
    return &s->own[0];
}

static void keep_cycle(struct section *s, const struct dh_engine_party *other, const struct dh_engine_party *p)
{
    bool wrote = other->flags & DH_STEP_WRITES;
    if (s->is_broken[wrote])
        return;
    s->is_broken[wrote] = true;
    s->broken[wrote][0] = *first_conflicting(s, other);
    s->broken[wrote][1] = *other;
    s->broken[wrote][2] = *p;
}

/* An access of the section itself. */
static void access_by_section(struct section *s, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < s->n_others && s->n_own; i++)
        if (conflict(&s->others[i], p))
            keep_cycle(s, &s->others[i], p);
    if (s->n_own < ACCESSES)
        s->own[s->n_own++] = *p;
}

static void report_cycles(const struct section *s, dh_engine_marks marks)
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
        (sections->open[i].task == task ? access_by_section : access_by_other)(&sections->open[i], &p);
    struct section *s = marks & (DH_ENGINE_SECTION_END | DH_ENGINE_SECTION_EXIT) ? find_open(task, ends) : NULL;
    if (s && marks & DH_ENGINE_SECTION_END)
        report_cycles(s, marks);
    if (s)
        leave(s);
    if (marks & DH_ENGINE_SECTION_ENTRY) {
        uint32_t begins = marks >> DH_ENGINE_SECTION_ENTRY_SHIFT & DH_ENGINE_SECTION_NUMBER;
        enter(task, begins);
        if ((s = find_open(task, begins)))
            access_by_section(s, &p);
    }
}
