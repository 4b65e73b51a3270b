/* Which vertices of a growing graph lie on common cycles. Layer: detect. Keeps a topological order of the strongly
 * connected components and repairs it where an edge comes against it (Pearce, Kelly 2007), so that edges along the
 * order, nearly all there are, cost nothing. A component does not fall apart when one of its vertices goes. */
#ifndef DH_DETECT_ONLINE_SCC_H
#define DH_DETECT_ONLINE_SCC_H

#include <stdbool.h>
#include <stdint.h>

struct dh_online_scc;
struct dh_online_scc *dh_online_scc_new(void);
void dh_online_scc_free(struct dh_online_scc *g);
uint32_t dh_online_scc_add_vertex(struct dh_online_scc *g);
void dh_online_scc_add_edge(struct dh_online_scc *g, uint32_t from, uint32_t to);
/* Whether there are, or were, ways from each to the other. A vertex is with itself. */
bool dh_online_scc_same(struct dh_online_scc *g, uint32_t a, uint32_t b);
/* No more edges; its number may be used again. */
void dh_online_scc_remove(struct dh_online_scc *g, uint32_t vertex);

#endif
