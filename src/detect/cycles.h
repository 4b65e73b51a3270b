/* Which vertices of a growing graph lie on common cycles. Layer: detect. Keeps a topological order of the strongly
 * connected components and repairs it where an edge comes against it (Pearce, Kelly 2007), so that edges along the
 * order, nearly all there are, cost nothing. A component does not fall apart when one of its vertices goes. */
#ifndef DH_DETECT_CYCLES_H
#define DH_DETECT_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

struct dh_cycles;
struct dh_cycles *dh_cycles_new(void);
void dh_cycles_free(struct dh_cycles *g);
uint32_t dh_cycles_vertex(struct dh_cycles *g);
void dh_cycles_edge(struct dh_cycles *g, uint32_t from, uint32_t to);
/* Whether there are, or were, ways from each to the other. A vertex is with itself. */
bool dh_cycles_together(struct dh_cycles *g, uint32_t a, uint32_t b);
/* No more edges; its number may be used again. */
void dh_cycles_remove(struct dh_cycles *g, uint32_t vertex);

#endif
