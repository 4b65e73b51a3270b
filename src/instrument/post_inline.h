/* Repairs hooks that exact placement inserted before inlining: shadow stack frames of inlined functions are removed,
 * places get their inlining chains. Layer: instrument. */
#ifndef DH_INSTRUMENT_POST_INLINE_H
#define DH_INSTRUMENT_POST_INLINE_H

#include "instrument/pass.h"

/* Removes every frame hook: those of inlined functions would pop their caller's frame. */
void dh_post_inline_strip_frames(struct dh_pass *pass);
/* Gives inlined hooks places with their inlining chain. */
void dh_post_inline_places(struct dh_pass *pass);

#endif
