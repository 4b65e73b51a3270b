/* Random bytes for the program. Layer: runtime. Each task has a stream of its own: what it gets depends neither on the
 * seed of the search nor on what other tasks drew before, so that a schedule replays. */
#ifndef DH_ENGINE_RANDOM_BYTES_H
#define DH_ENGINE_RANDOM_BYTES_H

#include "base/random.h"
#include "runtime/engine/engine.h"

static inline unsigned char dh_engine_random_byte(void)
{
    struct dh_task *t = dh_engine->current;
    if (!t->random_state)
        t->random_state = dh_splitmix(t->index + 1ull);
    return dh_random_byte(&t->random_state);
}

#endif
