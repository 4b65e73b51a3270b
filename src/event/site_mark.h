/* Site marks: what AtomRace's hooks do at a site, in the upper half of `what`. Layer: event (the tool resolves names to
 * sites, the runtime acts on the numbers). */
#ifndef DH_EVENT_SITE_MARK_H
#define DH_EVENT_SITE_MARK_H

#include <stdint.h>

/*   0 collide   1..8 noise groups   9..19 point + 1   20..31 variable + 1   */
enum {
    DH_SITE_MARK_COLLIDE = 1 << 0, /* the access is a primitive section */
    DH_SITE_MARK_NOISE_SHIFT = 1,
    DH_SITE_MARK_NOISE_GROUPS = 8, /* clauses of --noise that name targets */
    DH_SITE_MARK_POINT_SHIFT = 9,
    DH_SITE_MARK_POINTS = (1 << 11) - 1, /* sites that a section file names */
    DH_SITE_MARK_VARIABLE_SHIFT = 20,
    DH_SITE_MARK_VARIABLES = (1 << 12) - 1
};

static inline uint32_t dh_site_mark_noise(uint32_t mark)
{
    return mark >> DH_SITE_MARK_NOISE_SHIFT & ((1u << DH_SITE_MARK_NOISE_GROUPS) - 1);
}
/* 0: none; else one more than the index into dh_sections.sites. */
static inline uint32_t dh_site_mark_point(uint32_t mark)
{
    return mark >> DH_SITE_MARK_POINT_SHIFT & DH_SITE_MARK_POINTS;
}
/* 0: none; else one more than the index into dh_sections.names. */
static inline uint32_t dh_site_mark_variable(uint32_t mark)
{
    return mark >> DH_SITE_MARK_VARIABLE_SHIFT;
}

#endif
