/* AtomRace's atomic sections of several accesses (001 Fig. 3): which threads are in which section, and which accesses
 * interleaved. The rules are in detect/atomrace_sections.h. */
#include "runtime/atomrace/state.h"

#include "event/sections.h"
#include "runtime/core/options.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/platform/spin.h"

#include <fcntl.h>
#include <unistd.h>

_Atomic uint32_t dh_atom_n_violations;

static struct dh_sections sections;
static bool *is_local; /* by section */
static struct dh_atom_monitor *monitor;
static dh_spin monitor_lock = DH_SPIN_INIT(DH_RANK_ATOMRACE_MONITOR);

static void report_violation(const struct dh_atom_open_section *w, unsigned allow, const struct dh_atom_access *end)
{
    const struct dh_atom_interleaved *c = dh_atom_section_violation(w, allow);
    struct dh_report_access accesses[3];
    char text[DH_PRINT_BUFFER];
    if (!c)
        return;
    atomic_fetch_add_explicit(&dh_atom_n_violations, 1, memory_order_relaxed);
    struct dh_report r = {.kind = DH_FINDING_ATOMICITY, .detector = "atomrace", .access = accesses, .n_accesses = 3};
    dh_atom_describe(&accesses[0], w->thread, &w->entry);
    dh_atom_describe(&accesses[1], c->thread, &c->access);
    dh_atom_describe(&accesses[2], w->thread, end);
    accesses[0].note = "enters the section";
    accesses[1].note = "comes between";
    accesses[2].note = "ends the section";
    dh_atom_overlap(&w->entry, &c->access, &r);
    dh_print_text(text, sizeof text, "section '%s' allows others %s until it ends here, and one %s",
                  sections.sections[w->section].name,
                  allow & DH_ALLOW_READ    ? "only reads"
                  : allow & DH_ALLOW_WRITE ? "only writes"
                                           : "nothing",
                  c->access.write ? "wrote" : "read");
    r.text = text;
    dh_atom_report(&r);
}

/* Before the access: sections that end here. */
void dh_atom_sections_end(struct dh_atom_thread_state *s, uint32_t point, const struct dh_atom_access *a)
{
    for (uint32_t i = 0; i < sections.n_points; i++) {
        const struct dh_section_point *p = &sections.points[i];
        struct dh_atom_open_section w;
        if (p->site != point || p->role == DH_SECTION_ENTRY)
            continue;
        dh_spin_lock(&monitor_lock);
        bool ends = false;
        if (p->role == DH_SECTION_EXIT)
            dh_atom_section_abandon(monitor, p->section, s->atom.slot);
        else
            ends =
                dh_atom_section_end(monitor, p->section, s->atom.slot, dh_atom_frame_now(), is_local[p->section], &w);
        dh_spin_unlock(&monitor_lock);
        if (ends) {
            w.thread = s->index;
            report_violation(&w, p->allow, a);
        }
    }
}

/* After it: sections that begin here. */
bool dh_atom_sections_begin(struct dh_atom_thread_state *s, uint32_t point, const struct dh_atom_access *a)
{
    bool any = false;
    for (uint32_t i = 0; i < sections.n_points; i++) {
        const struct dh_section_point *p = &sections.points[i];
        if (p->site != point || p->role != DH_SECTION_ENTRY)
            continue;
        dh_spin_lock(&monitor_lock);
        dh_atom_section_begin(monitor, p->section, s->atom.slot, dh_atom_frame_now(), a);
        dh_spin_unlock(&monitor_lock);
        s->in_sections = 1;
        any = true;
    }
    return any;
}

void dh_atom_sections_extend(struct dh_atom_thread_state *s, uint32_t variable, const struct dh_atom_access *a)
{
    for (uint32_t i = 0; i < sections.n_variables; i++)
        if (sections.variables[i].variable == variable) {
            dh_spin_lock(&monitor_lock);
            dh_atom_section_extend(monitor, sections.variables[i].section, s->atom.slot, a->addr, a->size);
            dh_spin_unlock(&monitor_lock);
        }
}

void dh_atom_sections_find_overlapped(struct dh_atom_thread_state *s, const struct dh_atom_access *a)
{
    s->overlapped.n = 0;
    if (!dh_atom_in_section(monitor, a->addr, a->size))
        return;
    dh_spin_lock(&monitor_lock);
    dh_atom_section_find_overlapped(monitor, s->atom.slot, a->addr, a->size, &s->overlapped);
    dh_spin_unlock(&monitor_lock);
}

void dh_atom_sections_interleave(struct dh_atom_thread_state *s, const struct dh_atom_access *a)
{
    if (!s->overlapped.n)
        return;
    dh_spin_lock(&monitor_lock);
    dh_atom_section_interleave(monitor, s->index, a, &s->overlapped);
    dh_spin_unlock(&monitor_lock);
}

void dh_atom_sections_abandon(struct dh_atom_thread_state *s)
{
    dh_spin_lock(&monitor_lock);
    dh_atom_section_abandon(monitor, UINT32_MAX, s->atom.slot);
    dh_spin_unlock(&monitor_lock);
}

void dh_atom_sections_forked(void)
{
    dh_spin_forked(&monitor_lock);
    if (monitor)
        dh_bytes_zero(monitor, sizeof *monitor);
}

/* ---- the file ---- */

static char *read_file(const char *path, size_t *n)
{
    long fd = dh_sys_open(path, O_RDONLY | O_CLOEXEC, 0), got = 0;
    long size = fd < 0 ? -1 : dh_syscall3(SYS_lseek, fd, 0, SEEK_END);
    char *text = size >= 0 ? dh_alloc_forever((size_t)size + 1) : NULL;
    if (fd >= 0)
        dh_syscall3(SYS_lseek, fd, 0, SEEK_SET);
    for (*n = 0; text && *n < (size_t)size; *n += (size_t)got)
        if ((got = dh_syscall3(SYS_read, fd, (long)(text + *n), size - (long)*n)) <= 0)
            break;
    if (fd >= 0)
        dh_sys_close((int)fd);
    return got < 0 ? NULL : text;
}

/* The part of a selection after its line `sections`. */
static const char *sections_in(const char *text, size_t *n)
{
    for (const char *at = text, *end = text + *n; at < end;) {
        const char *line = at;
        while (at < end && *at != '\n')
            at++;
        at += at < end;
        if (dh_text_after(line, "sections ")) {
            *n = (size_t)(end - at);
            return at;
        }
    }
    return NULL;
}

/* Stable site names begin with the function: equal up to the last ':', they are in one function. */
static bool same_function(const char *a, const char *b)
{
    size_t n = dh_text_length(a);
    while (n && a[n - 1] != ':')
        n--;
    size_t hash = n;
    while (a[hash] && a[hash] != '#')
        hash++;
    if (!n || !a[hash])
        return false;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static void find_local(void)
{
    for (uint32_t k = 0; k < sections.n_sections; k++) {
        const char *first = NULL;
        is_local[k] = true;
        for (uint32_t i = 0; i < sections.n_points; i++) {
            const struct dh_section_point *p = &sections.points[i];
            if (p->section != k || p->role == DH_SECTION_EXIT)
                continue;
            if (!first)
                first = sections.sites[p->site];
            is_local[k] &= same_function(first, sections.sites[p->site]);
        }
    }
}

void dh_atom_sections_start(void)
{
    struct dh_sections_error e = {.text = "it cannot be read"};
    size_t n = 0;
    const char *text = read_file(dh_options.selection, &n);
    const char *section_text = text ? sections_in(text, &n) : NULL;
    if (text && !section_text)
        return;
    if (!section_text || !dh_sections_read(&sections, section_text, n, dh_alloc_forever, &e)) {
        dh_print_stderr("deadheat: sections in %s: %u:%u: %s; none are watched\n", dh_options.selection, e.line,
                        e.column, e.text);
        return;
    }
    is_local = dh_alloc_forever(sections.n_sections + 1);
    monitor = sections.n_points && is_local ? dh_alloc_forever(sizeof *monitor) : NULL;
    dh_atom_modes.sections = monitor;
    if (monitor)
        find_local();
}
