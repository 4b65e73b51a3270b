/* Control flow graph of one function: reverse postorder, dominators, postdominators, natural loops. Layer: model.
 * Arrays by number of the block within the function; the struct owns them and may be used again for the next
 * function. Not thread-safe. */
#ifndef DH_MODEL_CONTROL_FLOW_H
#define DH_MODEL_CONTROL_FLOW_H

#include "model/program.h"

struct dh_cfg {
    uint32_t function, first, n; /* blocks are first .. first + n - 1 of the program */
    uint32_t n_reached;
    DH_VEC(uint32_t) order;     /* reached blocks in reverse postorder */
    DH_VEC(uint32_t) rank;      /* position in `order`, DH_NONE = unreachable */
    DH_VEC(uint32_t) dominator; /* immediate; of the entry: itself; DH_NONE = unreachable */
    DH_VEC(uint32_t) post;      /* immediate postdominator; n = the exit; DH_NONE = no path to the exit */
    DH_VEC(uint32_t) loop;  /* header of the innermost loop around it, DH_NONE = none; a header is in its own loop */
    DH_VEC(uint32_t) outer; /* of a header: header of the enclosing loop, DH_NONE = none */
    DH_VEC(uint32_t) work;  /* scratch */
    bool irreducible;       /* some cycle has more than one entry: a header of `loop` may not dominate its loop */
};

void dh_cfg_build(struct dh_cfg *f, const struct dh_program *p, uint32_t function);
void dh_cfg_release(struct dh_cfg *f);
/* Numbers within the function. A block dominates itself. False for unreachable blocks. */
bool dh_cfg_dominates(const struct dh_cfg *f, uint32_t a, uint32_t b);
bool dh_cfg_in_loop(const struct dh_cfg *f, uint32_t header, uint32_t block);
static inline bool dh_cfg_in_any_loop(const struct dh_cfg *f, uint32_t block)
{
    return f->loop.at[block] != DH_NONE;
}

#endif
