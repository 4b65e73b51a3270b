/* All strategies, for those that build on another. Layer: search. */
#ifndef DH_SEARCH_STRATEGIES_H
#define DH_SEARCH_STRATEGIES_H

#include "search/strategy.h"

#define DH_STRATEGY(id) extern const struct dh_strategy dh_strategy_##id;
#include "search/strategies.def"
#undef DH_STRATEGY

#endif
