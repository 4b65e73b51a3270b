/* Steps on files: one object for all names, one for the content of each file. Layer: runtime. No order of accesses to
 * memory follows from them. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_STEPS_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_STEPS_H

#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/files/file_open.h"

#define DH_NAMES_OBJECT ((const void *)(uintptr_t)0xF11E)

static inline void dh_file_step(const void *object, int fd, bool changes, unsigned touch)
{
    struct dh_io io = {.object = object, .fd = fd, .flags = changes ? 0 : DH_STEP_SHARED, .touch = (uint8_t)touch};
    dh_io_step(&io);
}

static inline void dh_names_step(bool changes)
{
    dh_file_step(DH_NAMES_OBJECT, -1, changes, 0);
}

static inline const void *dh_inode_object(const struct dh_inode *i)
{
    return (const void *)(uintptr_t)(i->key >> 16 | 1);
}

/* The open file of that number once the call is chosen; NULL as dh_open_file_of. */
static inline struct dh_open_file *dh_content_step(int fd, bool changes)
{
    const struct dh_open_file *f = dh_open_file_of(fd);
    if (!f)
        return NULL;
    dh_file_step(dh_inode_object(f->inode), fd, changes, 0);
    return dh_open_file_of(fd);
}

#endif
