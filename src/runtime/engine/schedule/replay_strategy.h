/* The strategy `replay`, which follows the decisions of a witness. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SCHEDULE_REPLAY_STRATEGY_H
#define DH_RUNTIME_ENGINE_SCHEDULE_REPLAY_STRATEGY_H

#include "runtime/engine/engine.h"

extern const struct dh_strategy dh_replay_strategy;

#endif
