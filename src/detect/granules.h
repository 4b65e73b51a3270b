/* What detectors know of memory: a number for each 8 bytes of address space. Layer: detect. 0 means nothing is known,
 * and pages of nothing but 0 are given back, so that what is kept is bounded by what is alive. The numbers' meaning,
 * and what they hold on to, is the caller's. Not thread-safe. */
#ifndef DH_DETECT_GRANULES_H
#define DH_DETECT_GRANULES_H

#include <stddef.h>
#include <stdint.h>

enum { DH_GRANULE_BYTES = 8, DH_GRANULES_A_PAGE = 512, DH_GRANULE_PAGE_BYTES = 4096, DH_GRANULE_RECENT = 64 };

struct dh_granule_page {
    uint64_t number;
    uint32_t used; /* cells that are not 0 */
    uint32_t cells[DH_GRANULES_A_PAGE];
};

struct dh_granules {
    struct dh_granule_page **slots; /* open addressing */
    size_t n, cap;
    struct dh_granule_page *recent[DH_GRANULE_RECENT];
};

void dh_granules_init(struct dh_granules *g);
/* `drop` gets every number that is left; it may be NULL. */
void dh_granules_release(struct dh_granules *g, void (*drop)(void *arg, uint32_t value), void *arg);

/* What becomes of a granule of which the bytes in `mask` (bit 0 is its first byte) are meant. */
typedef uint32_t dh_granule_step(void *arg, uint32_t value, uint64_t granule, unsigned mask);
/* Every granule of the range, also where nothing is known yet; ends at the end of the address space. */
void dh_granules_update(struct dh_granules *g, uint64_t addr, uint64_t size, dh_granule_step *step, void *arg);
/* Only those of which something is known; cost is bounded by what is known, not by the range. */
void dh_granules_visit(struct dh_granules *g, uint64_t addr, uint64_t size, dh_granule_step *step, void *arg);

#endif
