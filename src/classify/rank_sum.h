/* Is a difference more than chance? Layer: classify. */
#ifndef DH_CLASSIFY_RANK_SUM_H
#define DH_CLASSIFY_RANK_SUM_H

#include <stdbool.h>

/* Are numbers of `more` larger than those of `less` by more than chance explains: the sum of ranks (Mann and Whitney),
 * less than one in a thousand? What is rare and large cannot do it alone, whatever it does to the mean. Takes at least
 * eight of each. */
bool dh_rank_sum_is_greater(const double *more, unsigned n, const double *less, unsigned m);

#endif
