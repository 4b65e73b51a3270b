/* Contents of files in the layer. Layer: runtime. Written files are files in memory, copied from the real one when it
 * is first changed; a copy serves all schedules, of which each leaves a list of what it changed. Slots are KEEP memory,
 * an inode's claim to one is rolled back. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_CONTENT_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_CONTENT_H

#include "runtime/engine/system/files/file_layer.h"

/* At the snapshot: from here on descriptors of ours are out of the program's reach. */
bool dh_contents_init(void);
/* The limit of descriptors that the program has. */
uint64_t dh_contents_descriptor_limit(void);
/* Schedules begin here: what files contain now is what is restored. */
void dh_contents_begin_here(void);
bool dh_contents_owns(long fd);
/* A duplicate out of the program's reach. */
long dh_contents_duplicate(long fd);
/* Moves a descriptor out of the program's reach; negative errno. */
long dh_contents_move_away(long fd);

/* A descriptor to read the content from, with a position of its own. */
long dh_content_reader(struct dh_inode *i);
/* One of a copy that can be changed. */
long dh_content_writer(struct dh_inode *i);
/* At the snapshot: the same, for all schedules. */
long dh_content_pin(struct dh_inode *i);
/* It was mapped so that it can be written: nobody will say when. */
void dh_content_set_mapped(const struct dh_inode *i);
int64_t dh_content_size(struct dh_inode *i);
/* Before bytes change: 0, or -ENOSPC if the layer or the real file system has no room for what is added. */
long dh_content_reserve(struct dh_inode *i, int64_t from, int64_t to);
long dh_content_truncate(struct dh_inode *i, int64_t size);
/* Nobody can reach it any more. */
void dh_content_drop(struct dh_inode *i);
/* Undoes what the schedule did to a slot. */
void dh_content_undo(uint32_t slot);

#endif
