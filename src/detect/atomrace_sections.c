#include "detect/atomrace_sections.h"

#include "event/sections.h"

static unsigned filter_index(uintptr_t addr)
{
    return addr >> 3 & (DH_ATOM_FILTER - 1);
}

bool dh_atom_in_section(const struct dh_atom_monitor *m, uintptr_t addr, uint32_t size)
{
    for (uintptr_t at = addr & ~(uintptr_t)7; at < addr + size; at += 8)
        if (__atomic_load_n(&m->filter[filter_index(at)], __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static void count(struct dh_atom_monitor *m, const struct dh_atom_range *r, int by)
{
    for (uintptr_t at = r->addr & ~(uintptr_t)7; at < r->addr + r->size; at += 8) {
        uint16_t *f = &m->filter[filter_index(at)];
        __atomic_store_n(f, (uint16_t)(*f + by), __ATOMIC_RELEASE);
    }
}

static void add_range(struct dh_atom_monitor *m, struct dh_atom_open_section *w, uintptr_t addr, uint32_t size)
{
    for (uint32_t i = 0; i < w->n_ranges; i++)
        if (w->range[i].addr == addr && w->range[i].size >= size)
            return;
    if (w->n_ranges == DH_ATOM_RANGES)
        return;
    w->range[w->n_ranges] = (struct dh_atom_range){addr, size};
    count(m, &w->range[w->n_ranges++], 1);
}

static void drop(struct dh_atom_monitor *m, struct dh_atom_open_section *w)
{
    for (uint32_t i = 0; i < w->n_ranges; i++)
        count(m, &w->range[i], -1);
    w->number = 0;
    while (m->used && !m->watch[m->used - 1].number)
        m->used--;
}

static bool is_of(const struct dh_atom_open_section *w, uint32_t section, uint32_t thread)
{
    return w->number && w->thread == thread && (section == UINT32_MAX || w->section == section);
}

static struct dh_atom_open_section *innermost(struct dh_atom_monitor *m, uint32_t section, uint32_t thread)
{
    struct dh_atom_open_section *last = NULL;
    for (uint32_t i = 0; i < m->used; i++)
        if (is_of(&m->watch[i], section, thread) && (!last || m->watch[i].number > last->number))
            last = &m->watch[i];
    return last;
}

/* Stacks grow down: a caller's frame lies above. */
static void drop_abandoned(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t above)
{
    for (uint32_t i = m->used; i-- > 0;)
        if (is_of(&m->watch[i], section, thread) && m->watch[i].frame < above)
            drop(m, &m->watch[i]);
}

void dh_atom_section_begin(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t frame,
                           const struct dh_atom_access *entry)
{
    drop_abandoned(m, section, thread, frame + 1);
    uint32_t i = 0;
    while (i < m->used && m->watch[i].number)
        i++;
    if (i == DH_ATOM_OPEN_SECTIONS) {
        m->lost++;
        return;
    }
    if (i == m->used)
        m->used++;
    struct dh_atom_open_section *w = &m->watch[i];
    w->number = ++m->number;
    w->section = section;
    w->thread = thread;
    w->frame = frame;
    w->entry = *entry;
    w->n_ranges = w->n_crossings = 0;
    add_range(m, w, entry->addr, entry->size);
}

void dh_atom_section_extend(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t addr, uint32_t size)
{
    for (uint32_t i = 0; i < m->used; i++)
        if (is_of(&m->watch[i], section, thread))
            add_range(m, &m->watch[i], addr, size);
}

static bool covers(const struct dh_atom_open_section *w, uintptr_t addr, uint32_t size)
{
    for (uint32_t i = 0; i < w->n_ranges; i++)
        if (addr < w->range[i].addr + w->range[i].size && w->range[i].addr < addr + size)
            return true;
    return false;
}

void dh_atom_section_find_overlapped(const struct dh_atom_monitor *m, uint32_t thread, uintptr_t addr, uint32_t size,
                                     struct dh_atom_overlapped *met)
{
    met->n = 0;
    for (uint32_t i = 0; i < m->used && met->n < DH_ATOM_OVERLAPPED; i++) {
        const struct dh_atom_open_section *w = &m->watch[i];
        if (w->number && w->thread != thread && covers(w, addr, size))
            met->number[met->n++] = w->number;
    }
}

/* One of each kind and place is enough for a report; writes replace reads when there is no room. */
static void add_crossing(struct dh_atom_open_section *w, uint32_t thread, const struct dh_atom_access *a)
{
    for (uint32_t i = 0; i < w->n_crossings; i++)
        if (w->crossing[i].access.write == a->write && w->crossing[i].access.place == a->place)
            return;
    if (w->n_crossings < DH_ATOM_INTERLEAVED)
        w->crossing[w->n_crossings++] = (struct dh_atom_interleaved){thread, *a};
    else if (a->write && !w->crossing[DH_ATOM_INTERLEAVED - 1].access.write)
        w->crossing[DH_ATOM_INTERLEAVED - 1] = (struct dh_atom_interleaved){thread, *a};
}

void dh_atom_section_interleave(struct dh_atom_monitor *m, uint32_t thread, const struct dh_atom_access *a,
                                const struct dh_atom_overlapped *met)
{
    for (uint32_t k = 0; k < met->n; k++)
        for (uint32_t i = 0; i < m->used; i++)
            if (m->watch[i].number == met->number[k])
                add_crossing(&m->watch[i], thread, a);
}

bool dh_atom_section_end(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t frame, bool local,
                         struct dh_atom_open_section *out)
{
    if (local)
        drop_abandoned(m, section, thread, frame);
    struct dh_atom_open_section *w = innermost(m, section, thread);
    if (!w || (local && w->frame != frame))
        return false;
    *out = *w;
    drop(m, w);
    return true;
}

void dh_atom_section_abandon(struct dh_atom_monitor *m, uint32_t section, uint32_t thread)
{
    if (section != UINT32_MAX) {
        struct dh_atom_open_section *w = innermost(m, section, thread);
        if (w)
            drop(m, w);
        return;
    }
    for (uint32_t i = m->used; i-- > 0;)
        if (is_of(&m->watch[i], section, thread))
            drop(m, &m->watch[i]);
}

const struct dh_atom_interleaved *dh_atom_section_violation(const struct dh_atom_open_section *w, unsigned allow)
{
    for (uint32_t i = 0; i < w->n_crossings; i++)
        if (!(allow & (w->crossing[i].access.write ? DH_ALLOW_WRITE : DH_ALLOW_READ)))
            return &w->crossing[i];
    return NULL;
}
