/* Every detector there is, for --detect, --help and the commands that run with all of them: those inside the checked
 * program (detect/in_process.def) and those that watch its events (detect/detectors.def). Layer: launch. A detector of
 * the stream whose name is in the first list, too, counts as inside. Texts that are answered are owned by the caller.
 */
#ifndef DH_LAUNCH_DETECTOR_LIST_H
#define DH_LAUNCH_DETECTOR_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct dh_listed_detector {
    const char *name, *summary;
    const char *plan; /* classes of hooks it needs, or NULL */
    bool in_process;
};

/* NULL after the last. Valid until the next call. */
const struct dh_listed_detector *dh_detector_list_at(size_t i);
/* Whether every word is a detector, or the only one is `none`; else `unknown` is that word and its length. */
bool dh_detector_list_check(const char *list, const char **unknown, size_t *n);
/* "race, lockset, ..." of all, joined by `separator`. */
char *dh_detector_list_all(const char *separator);
/* Of a list that was checked: the classes of hooks, each once ("none" without any); the names of those inside ("none"
 * without any), and of those that watch the stream ("" without any). */
char *dh_detector_list_plan(const char *list);
char *dh_detector_list_inside(const char *list);
char *dh_detector_list_watching(const char *list);

#endif
