/* The rank-sum test of Mann and Whitney. Layer: classify. */
#ifndef DH_CLASSIFY_RANK_SUM_H
#define DH_CLASSIFY_RANK_SUM_H

#include <stdbool.h>

/* Are the numbers of `more` significantly larger than those of `less` (p < 0.001)? Robust against rare large numbers.
 * Needs at least eight of each. */
bool dh_rank_sum_is_greater(const double *more, unsigned n, const double *less, unsigned m);

#endif
