/* Where paths lead: name by name through the layer, and where it says nothing, through the base. */
#include "runtime/engine/system/files/file_layer.h"

#include "runtime/core/start.h"
#include "runtime/engine/system/files/file_open.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { TEXT = 2 * PATH_MAX, LIVE_PATHS = 2 };

/* In KEEP memory: nothing of it is needed after the call. */
static struct scratch {
    char path[PATH_MAX];
    char link[PATH_MAX];
    char text[2][TEXT]; /* what is left to walk; two, to put a link's target before it */
    char live[LIVE_PATHS][TEXT];
    unsigned next_live;
} *scratch;

static struct dh_inode *root, *working_directory;

struct walk {
    struct dh_inode *dir;
    const char *rest;
    unsigned how, links, text;
    struct dh_path *out;
};

/* ---- one name ---- */

/* `dir` in the base; its length, or -ENAMETOOLONG. */
static long join_paths(char out[PATH_MAX], const char *dir, const char *name, size_t length)
{
    size_t n = dh_text_length(dir);
    bool slash = n && dir[n - 1] == '/';
    if (n + length + 2 > PATH_MAX)
        return -ENAMETOOLONG;
    dh_bytes_copy(out, dir, n);
    if (!slash)
        out[n++] = '/';
    dh_bytes_copy(out + n, name, length);
    out[n + length] = 0;
    return (long)(n + length);
}

long dh_path_lookup(struct dh_inode *dir, const char *name, size_t length, struct dh_inode **out)
{
    const struct dh_name *known = dh_name_find(dir, name, length);
    struct stat s;
    *out = known ? known->inode : NULL;
    if (known || !dir->base)
        return 0;
    long n = join_paths(scratch->path, dir->base, name, length);
    long result =
        n < 0 ? n : dh_kernel_call(SYS_newfstatat, AT_FDCWD, (long)scratch->path, (long)&s, AT_SYMLINK_NOFOLLOW, 0, 0);
    if (result < 0)
        return result == -ENOENT ? 0 : result;
    *out = dh_inode_of(&s, scratch->path, dir);
    dh_name_set(dir, name, length, *out, true);
    return 0;
}

long dh_path_read_link(const struct dh_inode *link, char *out, size_t n)
{
    if (!link->target)
        return dh_kernel_call(SYS_readlink, (long)link->base, (long)out, (long)n, 0, 0, 0);
    size_t length = dh_text_length(link->target);
    dh_bytes_copy(out, link->target, length < n ? length : n);
    return (long)(length < n ? length : n);
}

/* ---- live paths ---- */

/* "self/fd/5/rest": the descriptor and what follows; -1: something else. */
static int descriptor_in(const char *path, const char **rest)
{
    const char *at = dh_text_after(path, "self/");
    int fd = 0;
    unsigned pid = 0;
    if (!at)
        at = dh_text_after(path, "thread-self/");
    for (const char *digit = path; !at && *digit >= '0' && *digit <= '9'; digit++) {
        pid = pid * 10 + (unsigned)(*digit - '0');
        if (digit[1] == '/' && (int)pid == dh_process.pid)
            at = digit + 2;
    }
    at = at ? dh_text_after(at, "fd/") : NULL;
    if (!at || *at < '0' || *at > '9')
        return -1;
    for (; *at >= '0' && *at <= '9'; at++)
        fd = fd * 10 + (*at - '0');
    *rest = at;
    return *at && *at != '/' ? -1 : fd;
}

static long end_live(struct walk *w)
{
    char *live = scratch->live[scratch->next_live++ % LIVE_PATHS];
    size_t n = dh_text_length(w->dir->base), more = dh_text_length(w->rest);
    if (n + more + 2 > TEXT)
        return -ENAMETOOLONG;
    dh_bytes_copy(live, w->dir->base, n);
    live[n] = '/';
    dh_bytes_copy(live + n + 1, w->rest, more + 1);
    w->out->live = live;
    w->out->inode = NULL;
    w->out->dir = w->dir;
    return 0;
}

/* ---- the walk ---- */

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (at[n] && at[n] != '/')
        n++;
    return n;
}

static const char *skip_slashes(const char *at)
{
    while (*at == '/')
        at++;
    return at;
}

/* Goes on with the target of the link, and what is left behind it. */
static long follow(struct walk *w, const struct dh_inode *link)
{
    if (++w->links > DH_LINKS_MOST)
        return -ELOOP;
    long n = dh_path_read_link(link, scratch->link, PATH_MAX - 1);
    size_t more = dh_text_length(w->rest);
    if (n <= 0)
        return n ? n : -ENOENT;
    if ((size_t)n + more + 2 > TEXT)
        return -ENAMETOOLONG;
    char *text = scratch->text[w->text ^= 1];
    dh_bytes_copy(text, scratch->link, (size_t)n);
    dh_bytes_copy(text + n, w->rest, more + 1);
    w->rest = text;
    if (text[0] == '/')
        w->dir = root;
    w->out->inode = w->dir;
    w->out->dir = NULL;
    w->out->last = DH_LAST_ROOT;
    return 0;
}

static struct dh_inode *parent_of(struct dh_inode *dir)
{
    return dir->parent ? dir->parent : dir;
}

/* A name that is the last one need not exist. */
static long enter(struct walk *w, const char *name, size_t length, bool is_last)
{
    struct dh_path *out = w->out;
    struct dh_inode *child = NULL;
    bool dot = name[0] == '.' && length == 1, dots = name[0] == '.' && length == 2 && name[1] == '.';
    long result = 0;
    out->dir = w->dir;
    out->last = dot ? DH_LAST_DOT : dots ? DH_LAST_DOTS : DH_LAST_NAME;
    out->length = (uint8_t)length;
    dh_bytes_copy(out->name, name, length);
    out->name[length] = 0;
    if (dot || dots)
        child = dot ? w->dir : parent_of(w->dir);
    else
        result = dh_path_lookup(w->dir, out->name, length, &child);
    if (result < 0)
        return result;
    if (!child && !(is_last && w->how & DH_PATH_CREATE))
        return -ENOENT;
    bool follows = !is_last || w->how & DH_PATH_FOLLOW || (out->slash && !(w->how & (DH_PATH_CREATE | DH_PATH_PARENT)));
    if (child && S_ISLNK(child->about.st_mode) && !child->live && follows)
        return follow(w, child);
    out->inode = child;
    if (child)
        w->dir = child;
    return 0;
}

/* From a descriptor in /proc to the file it stands for; false: it is not of the layer. */
static bool enter_descriptor(struct walk *w)
{
    const char *rest;
    int fd = descriptor_in(w->rest, &rest);
    bool follows = fd >= 0 && (*rest || w->how & DH_PATH_FOLLOW);
    const struct dh_open_file *f = follows ? dh_open_file_of(fd) : NULL;
    if (!f || !f->inode)
        return false;
    w->rest = rest;
    w->out->inode = w->dir = f->inode;
    w->out->slash = *rest;
    w->out->dir = NULL;
    w->out->last = DH_LAST_ROOT;
    return true;
}

static long step(struct walk *w)
{
    if (!S_ISDIR(w->dir->about.st_mode))
        return -ENOTDIR;
    if (w->dir->live)
        return enter_descriptor(w) ? 0 : end_live(w);
    const char *name = w->rest;
    size_t length = name_length(name);
    if (length > DH_NAME_MOST)
        return -ENAMETOOLONG;
    long allowed = dh_inode_permits(w->dir, X_OK);
    if (allowed < 0)
        return allowed;
    const char *behind = skip_slashes(name + length);
    w->out->slash = name[length] == '/';
    w->rest = name + length;
    if (w->how & DH_PATH_FILE && !*behind && w->out->slash)
        return -EISDIR;
    return enter(w, name, length, !*behind);
}

static long walk(struct dh_inode *from, const char *path, unsigned text, unsigned how, struct dh_path *out)
{
    struct walk w = {.dir = from, .rest = path, .how = how, .text = text, .out = out};
    *out = (struct dh_path){.inode = from, .last = DH_LAST_ROOT};
    while (*(w.rest = skip_slashes(w.rest)) && !out->live) {
        long result = step(&w);
        if (result < 0)
            return result;
    }
    if (out->inode && out->slash && !S_ISDIR(out->inode->about.st_mode) && !(how & DH_PATH_CREATE))
        return -ENOTDIR;
    if (out->inode && out->inode->live) {
        out->live = out->inode->base;
        out->inode = NULL;
    }
    return 0;
}

bool dh_paths_init(void)
{
    struct stat s;
    char path[PATH_MAX];
    struct dh_path found;
    scratch = dh_keep_alloc(sizeof *scratch);
    if (!scratch || dh_kernel_call(SYS_stat, (long)"/", (long)&s, 0, 0, 0, 0) != 0)
        return false;
    root = dh_inode_of(&s, "/", NULL);
    if (dh_kernel_call(SYS_getcwd, (long)path, sizeof path, 0, 0, 0, 0) > 0 && dh_path_walk_own(path, 0, &found) == 0)
        working_directory = found.inode;
    return true;
}

/* The directory that a relative path starts from. */
static long start_of(long at, bool anything, struct dh_inode **out)
{
    if ((int)at == AT_FDCWD) {
        *out = dh_path_working_directory();
        return *out ? 0 : -ENOENT;
    }
    const struct dh_open_file *f = dh_open_file_of((int)at);
    if (!f || !f->inode)
        return dh_kernel_call(SYS_fcntl, at, F_GETFD, 0, 0, 0, 0) < 0 ? -EBADF : -ENOTDIR;
    *out = f->inode;
    return anything || S_ISDIR(f->inode->about.st_mode) ? 0 : -ENOTDIR;
}

long dh_path_walk(long at, long path, unsigned how, struct dh_path *out)
{
    struct dh_inode *from = NULL;
    long n = dh_user_read_text(scratch->text[0], PATH_MAX, path);
    if (n < 0)
        return n;
    if (!n && !(how & DH_PATH_EMPTY))
        return -ENOENT;
    long result = scratch->text[0][0] == '/' ? 0 : start_of(at, !n, &from);
    return result < 0 ? result : walk(from ? from : root, scratch->text[0], 0, how, out);
}

long dh_path_walk_own(const char *path, unsigned how, struct dh_path *out)
{
    dh_text_copy(scratch->text[0], PATH_MAX, path);
    return walk(root, scratch->text[0], 0, how, out);
}

/* ---- directories as paths ---- */

static const struct dh_name *name_of(const struct dh_inode *dir)
{
    for (const struct dh_name *n = dir->parent ? dir->parent->names : NULL; n; n = n->next)
        if (n->inode == dir)
            return n;
    return NULL;
}

/* Written from its end. */
long dh_path_of_directory(const struct dh_inode *dir, char *out, size_t n)
{
    size_t at = n - 1;
    out[at] = 0;
    for (const struct dh_inode *i = dir; i->parent; i = i->parent) {
        const struct dh_name *name = name_of(i);
        if (!name)
            return -ENOENT;
        if (name->length + 1u > at)
            return -ERANGE;
        at -= name->length + 1u;
        out[at] = '/';
        dh_bytes_copy(out + at + 1, name->text, name->length);
    }
    if (at == n - 1)
        out[--at] = '/';
    dh_bytes_move(out, out + at, n - at);
    return (long)(n - at - 1);
}

struct dh_inode *dh_path_working_directory(void)
{
    return working_directory;
}

void dh_path_set_working_directory(struct dh_inode *dir)
{
    working_directory = dir;
}
