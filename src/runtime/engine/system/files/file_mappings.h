/* Files in memory by mmap: of the layer's content, and coherent with it. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_MAPPINGS_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_MAPPINGS_H

#include "runtime/engine/system/files/file_layer.h"

/* At the snapshot: writable shared mappings of files become mappings of copies. */
void dh_shared_mappings_take_over(void);
/* A child begins, which is to leave shared memory as it is; and at its end. */
void dh_shared_mappings_in_child(void);
void dh_shared_mappings_restore(long at, long size, long content);
/* The descriptor that mmap with these arguments has to map: *fd stays if it is not of the layer; negative errno. */
long dh_shared_mappings_source(const long a[6], long *fd);
/* What was mapped there, if it is shared and of the layer, follows when its content becomes a copy. */
void dh_shared_mappings_add(const long a[6], long at);
void dh_shared_mappings_remove(long at, long size);
void dh_shared_mappings_follow(const struct dh_inode *i, long copy);

#endif
