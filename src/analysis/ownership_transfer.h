/* Heuristic: an object removed from a container under the container's lock is owned by the thread that removed it,
 * until it is put back. Layer: analysis. Tried when nothing else rules out a pair; no proof. Values are followed back
 * through the calls that led to the access, not through all there are. Owns its storage. */
#ifndef DH_ANALYSIS_OWNERSHIP_TRANSFER_H
#define DH_ANALYSIS_OWNERSHIP_TRANSFER_H

#include "analysis/symex.h"

struct dh_ownership_transfer {
    struct dh_symex *symex;
    uint32_t *locked;  /* by instruction: loads that are always done under a lock, and which one: symex.held + 1 */
    uint32_t *reads;   /* by instruction: an event of its read, + 1 */
    uint32_t *removed; /* by event: 0 = not asked yet, 1 = not owned, else symex.held + 2: the lock under which it was
                          removed */
    uint32_t *writes;  /* events that write, by heap cell */
    uint32_t n_writes;
};

void dh_ownership_transfer_init(struct dh_ownership_transfer *h, struct dh_symex *w);
void dh_ownership_transfer_release(struct dh_ownership_transfer *h);
/* Whether each access is made by the thread that owned the object then. */
bool dh_ownership_is_transferred(struct dh_ownership_transfer *h, const struct dh_symex_event *a,
                                 const struct dh_symex_event *b);

#endif
