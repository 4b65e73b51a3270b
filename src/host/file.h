/* Files and folders. Layer: host. Everything returned is owned by the caller. */
#ifndef DH_HOST_FILE_H
#define DH_HOST_FILE_H

#include "base/str.h"
#include "host/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_bytes {
    uint8_t *at; /* malloc'ed */
    size_t n;
};

bool dh_file_read(const char *path, struct dh_bytes *out, struct dh_err *err);
/* Atomic: written beside `path`, flushed, renamed over it. */
bool dh_file_write(const char *path, const void *bytes, size_t n, unsigned mode, struct dh_err *err);
/* All `n` bytes, however many calls of write(2) that takes. */
bool dh_write_all(int fd, const void *bytes, size_t n);
void dh_bytes_release(struct dh_bytes *b);
/* Takes ownership of a string's bytes. */
struct dh_bytes dh_bytes_take(struct dh_str *s);

bool dh_file_exists(const char *path);
bool dh_file_is_regular(const char *path);
/* 0 unless it is a regular file. */
size_t dh_file_size(const char *path);
/* Whether the disk of `folder` has so many bytes free; err says that `what` needs them. */
bool dh_disk_has_room(const char *folder, size_t bytes, const char *what, struct dh_err *err);
bool dh_mkdir_parents(const char *path, unsigned mode, struct dh_err *err);
/* Removes a tree; what cannot be removed stays. */
void dh_remove_tree(const char *path);
/* A fresh private folder below TMPDIR, removed by the caller with dh_remove_tree. */
char *dh_temp_folder(struct dh_err *err);
/* Absolute form of a path; links are not followed, the file need not exist. */
char *dh_path_absolute(const char *path);
/* Absolute form with links followed, or NULL. */
char *dh_path_real(const char *path);

#endif
