/* Child processes of a subject that make threads, as a run shows them: each can be explored instead of the program
 * itself. Layer: prove. A list owns its texts. */
#ifndef DH_PROVE_CHILDREN_H
#define DH_PROVE_CHILDREN_H

#include "base/vec.h"
#include "event/engine.h"

struct dh_child_process {
    uint64_t identity; /* the same in every run */
    unsigned number;   /* in the order in which they came, from 1 */
    char build[33];
    char *program; /* its file */
    char *command; /* its words */
};

struct dh_children {
    DH_VEC(struct dh_child_process) at;
    unsigned all; /* of the run, with those that made no thread */
};

/* Those of a run that has ended, in the place of what the list held. */
void dh_children_read(struct dh_children *out, const struct dh_engine_control *r);
void dh_children_release(struct dh_children *c);
/* By number, name of its file or its words; NULL: there is none. */
const struct dh_child_process *dh_children_find(const struct dh_children *c, const char *what);

#endif
