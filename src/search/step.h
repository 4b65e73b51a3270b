/* Keys, races and reversibility of steps, beyond the dependence relation of strategy.h. Layer: search. */
#ifndef DH_SEARCH_STEP_H
#define DH_SEARCH_STEP_H

#include "search/strategy.h"

enum { DH_STEP_KEYS = 6, DH_STEP_WIDE = DH_STEP_KEYS + 1 };

/* Dependent steps have a key in common, or one of them is wide. Answers how many keys there are, or DH_STEP_WIDE. */
unsigned dh_step_keys(const struct dh_step *s, uint64_t keys[DH_STEP_KEYS]);
/* Two that do not change anything never depend. */
bool dh_step_changes(const struct dh_step *s);
/* Every step with this key that comes before `early` and on which `late` depends is one on which `early` depends. */
bool dh_step_hides(const struct dh_step *early, const struct dh_step *late, uint64_t key);
/* Is it sure that `late` could have been executed just before `early`, whatever it may have had to wait for? If not,
 * the step it competed with may be one before that. */
bool dh_step_could_precede(const struct dh_step *late, const struct dh_step *early);
/* `late` can never be executed just before `early` (they depend). */
bool dh_step_needs(const struct dh_step *late, const struct dh_step *early);

#endif
