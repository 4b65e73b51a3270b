/* Saves vector and floating point registers around calls into libc, for hooks that preserve all registers. Layer:
 * runtime. Uses the runtime's allocator; without memory nothing is saved. */
#ifndef DH_RUNTIME_REPORT_VECTOR_STATE_H
#define DH_RUNTIME_REPORT_VECTOR_STATE_H

#include <stddef.h>
#include <stdint.h>

struct dh_vector_state {
    void *block, *area;
    size_t size;
};

void dh_vector_save(struct dh_vector_state *v);
void dh_vector_restore(struct dh_vector_state *v);

#endif
