/* Partial store order of SPARC version 8: stores to different locations leave a thread's buffer in any order, unless a
 * store barrier lies between them: a release or stronger fence, or the latter being a release store. Full fences as in
 * tso; SPARC's own read-modify-writes are weaker. */
#include "memory/buffers.h"

static void *start(struct dh_memory *memory)
{
    return dh_buffers_start(memory, true);
}

const struct dh_memory_model dh_memory_pso = {
    .name = "pso",
    .summary = "stores wait in buffers and leave them in any order but per location",
    .start = start,
    DH_MODEL_OF_BUFFERS,
};
