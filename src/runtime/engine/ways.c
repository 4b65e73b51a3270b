/* In which ways a parked task can go on, by what it is about to do. */
#include "runtime/engine/primitives.h"

dh_engine_ways *const dh_engine_ways_of[DH_STEP_COUNT] = {
    [DH_STEP_LOCK] = dh_ways_lock,
    [DH_STEP_JOIN] = dh_ways_join,
};
