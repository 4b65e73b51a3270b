/* Strongly connected components of a growing graph (Pearce, Kelly 2007). Layer: detect. Keeps a topological order of
 * the components and repairs it where a new edge goes against it; edges along the order, nearly all, cost nothing. A
 * component is not split when one of its vertices is removed. */
#ifndef DH_DETECT_ONLINE_SCC_H
#define DH_DETECT_ONLINE_SCC_H

#include <stdbool.h>
#include <stdint.h>

struct dh_online_scc;
struct dh_online_scc *dh_online_scc_new(void);
void dh_online_scc_free(struct dh_online_scc *g);
uint32_t dh_online_scc_add_vertex(struct dh_online_scc *g);
void dh_online_scc_add_edge(struct dh_online_scc *g, uint32_t from, uint32_t to);
/* Are, or were, the two on a common cycle? A vertex is with itself. */
bool dh_online_scc_same(struct dh_online_scc *g, uint32_t a, uint32_t b);
/* Its number may be reused. */
void dh_online_scc_remove(struct dh_online_scc *g, uint32_t vertex);

#endif
