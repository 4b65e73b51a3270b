/* Total store order as x86 has it (Owens, Sarkar, Sewell, 2009): stores leave a thread's buffer in their order. Full
 * fences: seq_cst fences and stores, every read-modify-write, and what synchronises threads. */
#include "memory/buffers.h"

static void *start(struct dh_memory *memory)
{
    return dh_buffers_start(memory, false);
}

const struct dh_memory_model dh_memory_tso = {
    .name = "tso",
    .summary = "stores wait in a buffer and leave it in order, as on x86",
    .start = start,
    DH_MODEL_OF_BUFFERS,
};
