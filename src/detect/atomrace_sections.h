/* AtomRace's longer sections (001 Fig. 3): threads inside sections, their bytes, and accesses of others in between.
 * Layer: detect; inside checked programs. Plain data, no allocation; the caller holds one lock around every call but
 * dh_atom_in_section.
 *
 * Deviations from the figure: every thread is monitored, not the first alone; a section begins after the entry's access
 * and ends before the end's, and an access counts as interleaved only if both its events are inside, so that the order
 * is certain whatever the threads did between event and access; recursion is one open section for each activation. */
#ifndef DH_DETECT_ATOMRACE_SECTIONS_H
#define DH_DETECT_ATOMRACE_SECTIONS_H

#include "detect/atomrace.h"

enum {
    DH_ATOM_OPEN_SECTIONS = 128,
    DH_ATOM_RANGES = 8,      /* variables of one section */
    DH_ATOM_INTERLEAVED = 8, /* kept for one section; one of each kind and place */
    DH_ATOM_OVERLAPPED = 4,
    DH_ATOM_FILTER = 1 << 10
};

struct dh_atom_range {
    uintptr_t addr;
    uint32_t size;
};

struct dh_atom_interleaved {
    uint32_t thread;
    struct dh_atom_access access;
};

/* One thread in one section. */
struct dh_atom_open_section {
    uint64_t number; /* unique; 0: free */
    uint32_t section, thread;
    uintptr_t frame; /* of the function that entered; callers lie above */
    struct dh_atom_access entry;
    struct dh_atom_range range[DH_ATOM_RANGES];
    struct dh_atom_interleaved crossing[DH_ATOM_INTERLEAVED];
    uint32_t n_ranges, n_crossings;
};

struct dh_atom_monitor {
    struct dh_atom_open_section watch[DH_ATOM_OPEN_SECTIONS];
    uint32_t used; /* of the array */
    uint64_t number;
    uint32_t lost; /* entries for which there was no room */
    uint16_t filter[DH_ATOM_FILTER];
};

/* The sections that an access overlapped at its `before`. */
struct dh_atom_overlapped {
    uint64_t number[DH_ATOM_OVERLAPPED];
    uint32_t n;
};

/* Without the lock: false is certain for sections that began before the caller's own events. */
bool dh_atom_in_section(const struct dh_atom_monitor *m, uintptr_t addr, uint32_t size);

/* After the entry's access. Earlier open sections of the thread whose function is not a caller of this one were left
 * without an end; they are dropped. */
void dh_atom_section_begin(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t frame,
                           const struct dh_atom_access *entry);
/* The thread accesses one more variable of its section. */
void dh_atom_section_extend(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t addr,
                            uint32_t size);
/* Before an access: which sections of other threads it falls into. */
void dh_atom_section_find_overlapped(const struct dh_atom_monitor *m, uint32_t thread, uintptr_t addr, uint32_t size,
                                     struct dh_atom_overlapped *met);
/* After it: it was inside those that are still open. */
void dh_atom_section_interleave(struct dh_atom_monitor *m, uint32_t thread, const struct dh_atom_access *a,
                                const struct dh_atom_overlapped *met);
/* Before an end's access: the innermost open section ends and is copied to `out`; false: there is none. `local`: entry
 * and ends are in one function, and only its present activation can end. */
bool dh_atom_section_end(struct dh_atom_monitor *m, uint32_t section, uint32_t thread, uintptr_t frame, bool local,
                         struct dh_atom_open_section *out);
/* The thread is in none of its sections any more (section UINT32_MAX), or not in this one. */
void dh_atom_section_abandon(struct dh_atom_monitor *m, uint32_t section, uint32_t thread);

/* The first interleaved access whose kind `allow` (dh_section_allow) does not have, or NULL. */
const struct dh_atom_interleaved *dh_atom_section_violation(const struct dh_atom_open_section *w, unsigned allow);

#endif
