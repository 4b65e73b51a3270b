/* The cache of derived variants. Layer: host. Mode 0700, ours only, oldest entries removed over the size cap. */
#ifndef DH_HOST_CACHE_H
#define DH_HOST_CACHE_H

#include "host/err.h"

/* $XDG_CACHE_HOME/deadheat/v1, made if missing; refused when it belongs to somebody else. Owned by the caller. */
char *dh_cache_folder(struct dh_err *err);
/* Removes the longest unused entries until the cache is under its cap; `keep` stays. */
void dh_cache_trim(const char *folder, const char *keep);

#endif
