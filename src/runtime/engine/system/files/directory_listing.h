/* Listings of directories: names of the base and of the layer as one. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_DIRECTORY_LISTING_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_DIRECTORY_LISTING_H

#include "runtime/engine/system/files/file_open.h"

bool dh_listings_init(void);
bool dh_directory_is_empty(struct dh_inode *dir);
/* The system calls getdents and getdents64. */
long dh_files_list(long number, const long a[6]);

#endif
