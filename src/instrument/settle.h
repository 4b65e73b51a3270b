/* After inlining: what hooks placed before it still say about where they stand is put right. Layer: instrument. */
#ifndef DH_INSTRUMENT_SETTLE_H
#define DH_INSTRUMENT_SETTLE_H

#include "instrument/weave.h"

/* Takes out every frame: those of inlined functions would end their caller's. */
void dh_settle_strip_frames(struct dh_weave *w);
/* Gives hooks that came in by inlining the place with their inlining chain. */
void dh_settle_places(struct dh_weave *w);

#endif
