/* Which file it is, for tool and checked program alike. Layer: event. Without the device: through an overlay
 * (host/private_files.h) a file has another one, but the same inode, size and time of change. */
#ifndef DH_EVENT_FILE_IDENTITY_H
#define DH_EVENT_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define DH_FILE_IDENTITY_FORMAT "%lx-%lx" /* inode, stamp */

struct dh_file_identity {
    uint64_t inode, stamp; /* 0: not known */
};

static inline struct dh_file_identity dh_file_identity_of(const struct stat *s)
{
    uint64_t changed = (uint64_t)s->st_mtim.tv_sec * 1000000000u + (uint64_t)s->st_mtim.tv_nsec;
    return (struct dh_file_identity){s->st_ino, (changed << 20 | changed >> 44) ^ (uint64_t)s->st_size};
}

static inline bool dh_file_identity_equal(struct dh_file_identity a, struct dh_file_identity b)
{
    return a.inode == b.inode && a.stamp == b.stamp;
}

#endif
