/* Objects that go from hand to hand: taken out of a queue, a pool or a list under its lock, they are by custom the
 * taker's until it gives them away. Layer: analysis. Asked when a pair would be suspected; no proof. Values are
 * followed back through the calls that led to the access, not through all there are. Owns its storage. */
#ifndef DH_ANALYSIS_OWNERSHIP_TRANSFER_H
#define DH_ANALYSIS_OWNERSHIP_TRANSFER_H

#include "analysis/symex.h"

struct dh_ownership_transfer {
    struct dh_symex *symex;
    uint32_t *locked; /* by instruction: loads that are always done under a lock, and which: symex.held + 1 */
    uint32_t *reads;  /* by instruction: an event that is its reading, + 1 */
    uint32_t *taken;  /* by event: 0 = not asked yet, 1 = no, else symex.held + 2: the lock it was taken under */
    uint32_t *writes; /* events that write, by place */
    uint32_t n_writes;
};

void dh_ownership_transfer_init(struct dh_ownership_transfer *h, struct dh_symex *w);
void dh_ownership_transfer_release(struct dh_ownership_transfer *h);
/* Whether by custom the object was another one's when the one accessed it. */
bool dh_ownership_is_transferred(struct dh_ownership_transfer *h, const struct dh_symex_event *a,
                                 const struct dh_symex_event *b);

#endif
