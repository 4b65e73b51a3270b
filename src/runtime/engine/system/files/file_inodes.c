/* Inodes and names of the layer: two hash tables in the arena. */
#include "runtime/engine/system/files/file_layer.h"

#include "base/random.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { ARENA = 64 << 20, INODES = 512, NAMES = 1024, FIRST_MADE = 1 << 30, BLOCK = 4096 };

static struct layer {
    char *next, *end;
    uint64_t made; /* inodes of this schedule */
    struct dh_inode *inodes[INODES];
    struct dh_name *names[NAMES];
} *layer;

bool dh_layer_init(void)
{
    layer = dh_sys_mmap(ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!layer)
        return false;
    layer->next = (char *)(layer + 1);
    layer->end = (char *)layer + ARENA;
    return true;
}

void *dh_layer_alloc(size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (n > (size_t)(layer->end - layer->next))
        dh_engine_cannot("more files in one schedule than the layer of files holds");
    void *at = layer->next;
    layer->next += n;
    return at;
}

const char *dh_layer_text(const char *text, size_t n)
{
    char *copy = dh_layer_alloc(n + 1);
    dh_bytes_copy(copy, text, n);
    return copy;
}

uint64_t dh_key_of(uint64_t key, const void *bytes, size_t n)
{
    key = dh_fnv(key ^ DH_FNV_BASIS, bytes, n);
    return key ^ key >> 29;
}

/* ---- inodes ---- */

static uint64_t key_of_file(dev_t device, ino_t number)
{
    uint64_t both[2] = {device, number};
    return dh_key_of(0, both, sizeof both);
}

/* File systems whose files are answers of the kernel. */
static bool is_live(const char *path)
{
    static const uint32_t types[] = {0x9fa0 /* proc */,      0x62656572 /* sysfs */,   0x63677270 /* cgroup2 */,
                                     0x64626720 /* debug */, 0x74726163 /* tracing */, 0x27e0eb /* cgroup */};
    struct statfs s;
    if (dh_kernel_call(SYS_statfs, (long)path, (long)&s, 0, 0, 0, 0) != 0)
        return false;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)s.f_type == types[i])
            return true;
    return false;
}

struct dh_inode *dh_inode_of(const struct stat *s, const char *path, struct dh_inode *dir)
{
    uint64_t key = key_of_file(s->st_dev, s->st_ino);
    struct dh_inode **bucket = &layer->inodes[key % INODES];
    for (struct dh_inode *i = *bucket; i; i = i->chain)
        if (i->about.st_dev == s->st_dev && i->about.st_ino == s->st_ino)
            return i;
    struct dh_inode *i = dh_layer_alloc(sizeof *i);
    *i = (struct dh_inode){.chain = *bucket,
                           .about = *s,
                           .key = key,
                           .base = dh_layer_text(path, dh_text_length(path)),
                           .parent = S_ISDIR(s->st_mode) ? dir : NULL,
                           .inherited = -1};
    i->live = dir && dir->about.st_dev == s->st_dev ? dir->live : is_live(path);
    *bucket = i;
    return i;
}

static gid_t group_for(const struct dh_inode *dir)
{
    return dir && dir->about.st_mode & S_ISGID ? dir->about.st_gid
                                               : (gid_t)dh_kernel_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
}

struct dh_inode *dh_inode_make(const struct dh_inode *dir, uint64_t key, mode_t mode)
{
    struct dh_inode *i = dh_layer_alloc(sizeof *i);
    i->key = key;
    i->inherited = -1;
    i->about.st_dev = dir ? dir->about.st_dev : 0;
    i->about.st_ino = FIRST_MADE + ++layer->made;
    i->about.st_mode = mode;
    i->about.st_nlink = S_ISDIR(mode) ? 2 : 1;
    i->about.st_uid = (uid_t)dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    i->about.st_gid = group_for(dir);
    if (S_ISDIR(mode) && dir)
        i->about.st_mode |= dir->about.st_mode & S_ISGID;
    i->about.st_size = S_ISDIR(mode) ? BLOCK : 0;
    i->about.st_blksize = BLOCK;
    dh_inode_touch(i, true);
    i->about.st_atim = i->about.st_mtim;
    return i;
}

void dh_inode_touch(struct dh_inode *i, bool modified)
{
    uint64_t now = dh_engine->wall_base_ns + dh_engine->now_ns;
    i->about.st_ctim = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    if (modified)
        i->about.st_mtim = i->about.st_ctim;
}

/* ---- permissions ---- */

static bool is_member(gid_t group)
{
    gid_t groups[NGROUPS_MAX / 64];
    if ((gid_t)dh_kernel_call(SYS_getegid, 0, 0, 0, 0, 0, 0) == group)
        return true;
    long n = dh_kernel_call(SYS_getgroups, sizeof groups / sizeof *groups, (long)groups, 0, 0, 0, 0);
    for (long i = 0; i < n; i++)
        if (groups[i] == group)
            return true;
    return false;
}

static bool is_root(void)
{
    return dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0) == 0;
}

bool dh_inode_is_own(const struct dh_inode *i)
{
    return is_root() || (uid_t)dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0) == i->about.st_uid;
}

static bool mode_permits(const struct dh_inode *i, int want)
{
    mode_t mode = i->about.st_mode;
    if (is_root())
        return !(want & X_OK) || S_ISDIR(mode) || mode & 0111;
    if (dh_inode_is_own(i))
        mode >>= 6;
    else if (is_member(i->about.st_gid))
        mode >>= 3;
    return !(want & ~(int)mode & 7);
}

long dh_inode_permits(const struct dh_inode *i, int want)
{
    if (!mode_permits(i, want))
        return -EACCES;
    bool read_only = want & W_OK && i->base && !S_ISCHR(i->about.st_mode) &&
                     dh_kernel_call(SYS_faccessat, -100, (long)i->base, W_OK, 0, 0, 0) == -EROFS;
    return read_only ? -EROFS : 0;
}

/* ---- names ---- */

static struct dh_name **bucket_of(const struct dh_inode *dir, const char *name, size_t length)
{
    return &layer->names[dh_key_of((uint64_t)(uintptr_t)dir, name, length) % NAMES];
}

struct dh_name *dh_name_find(const struct dh_inode *dir, const char *name, size_t length)
{
    for (struct dh_name *n = *bucket_of(dir, name, length); n; n = n->chain)
        if (n->dir == dir && n->length == length && dh_text_equal(n->text, name))
            return n;
    return NULL;
}

static struct dh_name *add_name(struct dh_inode *dir, const char *name, size_t length, bool in_base)
{
    struct dh_name **bucket = bucket_of(dir, name, length), *n = dh_layer_alloc(sizeof *n + length + 1);
    *n = (struct dh_name){
        .chain = *bucket, .next = dir->names, .dir = dir, .in_base = in_base, .length = (uint8_t)length};
    dh_bytes_copy(n->text, name, length);
    n->text[length] = 0;
    return *bucket = dir->names = n;
}

void dh_name_set(struct dh_inode *dir, const char *name, size_t length, struct dh_inode *inode, bool in_base)
{
    struct dh_name *n = dh_name_find(dir, name, length);
    n = n ? n : add_name(dir, name, length, in_base);
    n->inode = inode;
}
