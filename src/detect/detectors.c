/* The list of all detectors on the event stream (detectors.def). */
#include "detect/detector.h"

#include <string.h>

#define DH_DETECTOR(name) extern const struct dh_detector dh_detector_##name;
#include "detect/detectors.def"
#undef DH_DETECTOR

static const struct dh_detector *const all[] = {
#define DH_DETECTOR(name) &dh_detector_##name,
#include "detect/detectors.def"
#undef DH_DETECTOR
    NULL};

const struct dh_detector *dh_detector_at(size_t i)
{
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

const struct dh_detector *dh_detector_find(const char *name, size_t n)
{
    for (size_t i = 0; all[i]; i++)
        if (strlen(all[i]->name) == n && strncmp(all[i]->name, name, n) == 0)
            return all[i];
    return NULL;
}
