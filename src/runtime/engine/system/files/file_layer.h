/* The layer of files: what the program did to files and names in this schedule, above the real ones, which are only
 * read. Layer: runtime; for the file_*.c family. Inodes, names and open files lie in one ROLLBACK arena, so that
 * restoring memory takes them back; contents are files in memory (file_content.h). Answers are the kernel's: negative
 * errno. One task runs at a time, and none parks within a function of this header. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_LAYER_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_LAYER_H

#include "runtime/engine/engine.h"

#include <limits.h>
#include <sys/stat.h>

enum { DH_NAME_MOST = 255, DH_LINKS_MOST = 40 };

struct dh_inode {
    struct dh_inode *chain; /* in its bucket */
    struct stat about;      /* as the program sees it; the size of changed content is the content's */
    uint64_t key;           /* the same in every schedule: object of its steps */
    const char *base;       /* where the real one is; NULL: it was made in this schedule */
    const char *target;     /* of a symbolic link that was made in this schedule */
    struct dh_inode *parent;
    struct dh_name *names; /* of a directory: those that are known */
    struct dh_file_lock *locks;
    struct dh_attribute *attributes; /* extended ones that were set or removed (file_attributes.c) */
    uint32_t content;                /* its slot (file_content.h); 0: the real file's */
    uint32_t opened;                 /* open files */
    int32_t inherited;               /* descriptor of a real file that has no name any more; -1 */
    bool live;                       /* of a file system that is no storage, such as /proc: the kernel answers */
    bool mapped;                     /* the content was mapped */
};

/* An entry of a directory. */
struct dh_name {
    struct dh_name *chain, *next;
    struct dh_inode *dir;
    struct dh_inode *inode; /* NULL: it was removed */
    bool in_base;
    uint8_t length;
    char text[];
};

/* What a path leads to. */
enum dh_path_last { DH_LAST_NAME, DH_LAST_DOT, DH_LAST_DOTS, DH_LAST_ROOT };
struct dh_path {
    struct dh_inode *dir;   /* in which the last name is looked up; NULL with LAST_ROOT */
    struct dh_inode *inode; /* NULL: there is none, or it is live */
    const char *live;       /* path for the kernel, or NULL */
    enum dh_path_last last;
    bool slash; /* a slash follows the last name */
    uint8_t length;
    char name[DH_NAME_MOST + 1];
};
enum dh_path_how {
    DH_PATH_FOLLOW = 1 << 0, /* the last name if it is a symbolic link */
    DH_PATH_CREATE = 1 << 1, /* the last name need not exist */
    DH_PATH_EMPTY = 1 << 2,  /* an empty path is `at` itself */
    DH_PATH_PARENT = 1 << 3, /* the last name itself is meant, even with a slash behind it; so with CREATE */
    DH_PATH_FILE = 1 << 4,   /* -EISDIR if a slash is behind it */
};

/* ---- file_inodes.c ---- */

bool dh_layer_init(void);
/* Zeroed, until the schedule ends; a full layer ends the search. */
void *dh_layer_alloc(size_t n);
const char *dh_layer_text(const char *text, size_t n);
/* The inode of what was found in the base at `path`. */
struct dh_inode *dh_inode_of(const struct stat *s, const char *path, struct dh_inode *dir);
/* One that has no name yet, of this mode, owned by the process. */
struct dh_inode *dh_inode_make(const struct dh_inode *dir, uint64_t key, mode_t mode);
struct dh_name *dh_name_find(const struct dh_inode *dir, const char *name, size_t length);
/* Makes the name stand for the inode; NULL: for nothing. */
void dh_name_set(struct dh_inode *dir, const char *name, size_t length, struct dh_inode *inode, bool in_base);
void dh_inode_touch(struct dh_inode *i, bool modified);
/* 0, -EACCES or -EROFS; `want` as of access(2). */
long dh_inode_permits(const struct dh_inode *i, int want);
/* May the program change mode, owner and times of it? */
bool dh_inode_is_own(const struct dh_inode *i);
uint64_t dh_key_of(uint64_t key, const void *bytes, size_t n);

/* ---- file_status.c ---- */

struct dh_attribute_call {
    bool by_number, of_link, changes;
    struct dh_inode *inode; /* NULL: the kernel's, */
    const char *live;       /* at that path, or by number */
};
/* Finds the file of an extended attribute; 0 or negative errno. */
long dh_files_find_for_attributes(long number, const long a[6], struct dh_attribute_call *call);

/* ---- file_paths.c ---- */

/* At the snapshot. */
bool dh_paths_init(void);
/* `path` is the program's. */
long dh_path_walk(long at, long path, unsigned how, struct dh_path *out);
/* The same for a path of ours from the root. */
long dh_path_walk_own(const char *path, unsigned how, struct dh_path *out);
/* The name in that directory: *out NULL if there is none. */
long dh_path_lookup(struct dh_inode *dir, const char *name, size_t length, struct dh_inode **out);
/* Bytes, without a NUL; `n` > 0. */
long dh_path_read_link(const struct dh_inode *link, char *out, size_t n);
/* The absolute path; its length, or -ENOENT if it was removed. */
long dh_path_of_directory(const struct dh_inode *dir, char *out, size_t n);
/* NULL: it was removed before the first thread. */
struct dh_inode *dh_path_working_directory(void);
void dh_path_set_working_directory(struct dh_inode *dir);

#endif
