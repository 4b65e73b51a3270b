/* Place 0 is the program's first site, and what the engine has for code that is not instrumented, too: which of them a
 * step is tells what the site does. Layer: prove. */
#ifndef DH_PROVE_NOWHERE_H
#define DH_PROVE_NOWHERE_H

#include "event/engine.h"
#include "event/site.h"
#include "search/step.h"

/* `first` is the program's first site, or NULL. */
static inline bool dh_is_nowhere(uint32_t place, uint8_t kind, const struct dh_site *first)
{
    enum dh_group group = first ? dh_op_info(first->op)->group : DH_GROUP_CALL;
    if (place || !first)
        return false;
    if (kind == DH_STEP_FREE)
        return group != DH_GROUP_FREE && first->op != DH_OP_REALLOC;
    bool is_access = kind >= DH_STEP_READ && kind <= DH_STEP_COPY;
    if (group == DH_GROUP_ACCESS && !is_access)
        return kind != DH_STEP_NONE;
    if ((kind == DH_STEP_READ && (first->op == DH_OP_WRITE || first->op == DH_OP_SET)) ||
        (kind == DH_STEP_WRITE && (first->op == DH_OP_READ || first->op == DH_OP_ATOMIC_LOAD)))
        return true;
    if (kind == DH_STEP_READ || kind == DH_STEP_WRITE || kind == DH_STEP_COPY)
        return group != DH_GROUP_ACCESS && group != DH_GROUP_ATOMIC && group != DH_GROUP_MEMORY &&
               first->op != DH_OP_REALLOC;
    if (kind == DH_STEP_FUTEX_WAIT || kind == DH_STEP_FUTEX_WAKE)
        return group == DH_GROUP_ATOMIC || group == DH_GROUP_MEMORY;
    return false;
}

#endif
