#include "classify/rank_sum.h"

#define SIGNIFICANT 3.2 /* standard deviations of the rank sum */

/* Ties count half. */
bool dh_rank_sum_is_greater(const double *more, unsigned n, const double *less, unsigned m)
{
    double above = 0, pairs = (double)n * m, variance = pairs * (n + m + 1) / 12;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++)
            above += more[i] > less[k] ? 1 : more[i] == less[k] ? 0.5 : 0;
    double far = above - pairs / 2;
    return far > 0 && far * far >= SIGNIFICANT * SIGNIFICANT * variance;
}
