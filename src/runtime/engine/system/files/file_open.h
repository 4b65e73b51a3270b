/* Open files of the layer: what descriptors of regular files and directories stand for. Layer: runtime. In the arena
 * (file_layer.h): rolled back. The kernel's descriptor only holds the number; positions are kept here. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_OPEN_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_OPEN_H

#include "runtime/engine/system/files/file_layer.h"

struct dh_open_file {
    struct dh_inode *inode;
    int64_t offset;
    int flags; /* as of F_GETFL */
    uint32_t references;
    uint32_t number;      /* in the order of opening */
    uint32_t user;        /* task that used it first, plus 1 */
    int real;             /* descriptor of the program's output, which is not of the layer; -1 */
    struct dh_inode *dir; /* where it was found, for /proc/self/fd */
    const char *name;
    const char *listing; /* of a directory: entries as at its last beginning (directory_listing.c) */
    size_t listed;
};

/* NULL: the descriptor is not open, or not one of the layer. */
struct dh_open_file *dh_open_file_of(int fd);
bool dh_open_file_reads(const struct dh_open_file *f);
bool dh_open_file_writes(const struct dh_open_file *f);
/* The inode of one that is open; NULL: none is. */
struct dh_inode *dh_open_file_inode(uint64_t device, uint64_t number);
/* Was it used by another task before? Then its position is shared. */
bool dh_open_file_is_shared(int fd);
/* A new descriptor for a new open file; negative errno. */
long dh_open_file_new(struct dh_inode *i, const struct dh_path *found, int flags);

/* The mask of modes; returns the one before. */
mode_t dh_files_set_umask(mode_t mask);

#endif
