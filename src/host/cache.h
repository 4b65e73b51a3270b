/* The cache folder of derived variants. Layer: host. Mode 0700; least recently used entries are removed over a size
 * limit. */
#ifndef DH_HOST_CACHE_H
#define DH_HOST_CACHE_H

#include "host/err.h"

/* $XDG_CACHE_HOME/deadheat/v1, made if missing; refused when another user owns it. Owned by the caller. */
char *dh_cache_folder(struct dh_err *err);
/* Removes the longest unused entries until the cache is under its cap; `keep` stays. */
void dh_cache_trim(const char *folder, const char *keep);

#endif
