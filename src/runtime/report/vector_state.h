/* Vector and floating point registers around calls into libc, for hooks that promise to leave them alone. Layer:
 * runtime. Memory is taken from the runtime's own; without it nothing is saved. */
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
