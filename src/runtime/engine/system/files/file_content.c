#include "runtime/engine/system/files/file_content.h"

#include "runtime/engine/restore/undo.h"
#include "runtime/engine/system/files/file_mappings.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { SLOTS = 1024, RANGES = 32, BUFFER = 1 << 18, OURS = 1024, WITHOUT_LIMIT = 700, DEVICES = 8, UNIT = 512 };

struct range {
    int64_t from, to;
};

struct slot {
    dev_t device; /* of the real file; 0: none */
    ino_t number;
    struct timespec modified; /* of it, when it was copied */
    int64_t size;             /* of it */
    int original, copy;       /* descriptors, or -1 */
    bool used;                /* in this schedule */
    bool pinned;              /* in use since before schedules began */
    bool mapped;              /* and written through mappings */
    uint32_t n_ranges;
    struct range ranges[RANGES]; /* that this schedule changed */
};

static struct contents {
    struct slot slots[SLOTS + 1]; /* 0 is none */
    uint32_t n_slots;
    long first_own; /* descriptor */
    uint64_t descriptor_limit;
    uint64_t most; /* bytes that the layer may hold */
    struct device {
        dev_t number;
        uint64_t room;
    } devices[DEVICES];
    char buffer[BUFFER];
} *contents;

/* Of this schedule: what was added, on each device. */
static uint64_t added, added_on[DEVICES];

/* ---- descriptors ---- */

/* The limit is raised, if it may be, and ours are above the program's. */
static void set_apart(void)
{
    struct rlimit limit = {WITHOUT_LIMIT, WITHOUT_LIMIT};
    dh_kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    contents->descriptor_limit = limit.rlim_cur;
    rlim_t wanted = limit.rlim_cur + OURS;
    struct rlimit raised = {wanted < limit.rlim_max ? wanted : limit.rlim_max, limit.rlim_max};
    bool enough = raised.rlim_cur >= limit.rlim_cur + OURS / 4 &&
                  dh_kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&raised, 0, 0, 0) == 0;
    contents->first_own = enough ? (long)limit.rlim_cur : WITHOUT_LIMIT;
}

bool dh_contents_init(void)
{
    struct sysinfo memory = {0};
    contents = dh_keep_alloc(sizeof *contents);
    if (!contents)
        return false;
    set_apart();
    dh_kernel_call(SYS_sysinfo, (long)&memory, 0, 0, 0, 0, 0);
    contents->most = (uint64_t)memory.totalram * memory.mem_unit / 4;
    return true;
}

uint64_t dh_contents_descriptor_limit(void)
{
    return contents->descriptor_limit;
}

bool dh_contents_owns(long fd)
{
    if ((uint64_t)contents->first_own == contents->descriptor_limit)
        return fd >= contents->first_own;
    for (uint32_t i = 1; i <= contents->n_slots; i++)
        if (contents->slots[i].original == fd || contents->slots[i].copy == fd)
            return true;
    return false;
}

long dh_contents_duplicate(long fd)
{
    return dh_kernel_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, contents->first_own, 0, 0, 0);
}

long dh_contents_move_away(long fd)
{
    if (fd < 0)
        return fd;
    long moved = dh_contents_duplicate(fd);
    dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return moved;
}

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        dh_kernel_call(SYS_close, *fd, 0, 0, 0, 0, 0);
    *fd = -1;
}

/* ---- slots ---- */

static bool is_original(const struct slot *s, const struct dh_inode *i)
{
    return s->device == i->about.st_dev && s->number == i->about.st_ino && (s->device || s->number);
}

static bool is_free(const struct slot *s)
{
    return !s->used && !s->pinned && !s->number;
}

static struct slot *find_slot(const struct dh_inode *i)
{
    for (uint32_t n = 1; n <= contents->n_slots; n++)
        if (i->base || i->inherited >= 0 ? is_original(&contents->slots[n], i) : is_free(&contents->slots[n]))
            return &contents->slots[n];
    return NULL;
}

/* One that this schedule does not use, its descriptors closed. */
static struct slot *evict_slot(void)
{
    for (uint32_t n = 1; n <= contents->n_slots; n++)
        if (!contents->slots[n].used && !contents->slots[n].pinned) {
            close_if_open(&contents->slots[n].original);
            close_if_open(&contents->slots[n].copy);
            return &contents->slots[n];
        }
    return NULL;
}

static struct slot *new_slot(void)
{
    if (contents->n_slots == SLOTS)
        return evict_slot();
    return &contents->slots[++contents->n_slots];
}

static struct slot *slot_of(struct dh_inode *i)
{
    struct slot *s = i->content ? &contents->slots[i->content] : find_slot(i);
    if (!s) {
        s = new_slot();
        if (!s)
            return NULL;
        bool real = i->base || i->inherited >= 0;
        *s = (struct slot){.device = real ? i->about.st_dev : 0, .number = real ? i->about.st_ino : 0};
        s->original = s->copy = -1;
    }
    return s;
}

static void use(struct slot *s)
{
    if (s->used)
        return;
    s->used = true;
    dh_undo_log(DH_UNDO_CONTENT, s - contents->slots, 0, 0);
}

/* The inode's content is the slot's copy until the schedule ends. */
static void claim(struct dh_inode *i, struct slot *s)
{
    i->content = (uint32_t)(s - contents->slots);
    use(s);
    if (i->mapped)
        dh_shared_mappings_follow(i, s->copy);
}

/* ---- copies ---- */

static long open_original(struct dh_inode *i)
{
    char path[32];
    dh_print_text(path, sizeof path, "/proc/self/fd/%d", (int)i->inherited);
    return dh_contents_move_away(dh_kernel_call(SYS_openat, AT_FDCWD, (long)(i->inherited >= 0 ? path : i->base),
                                                O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0));
}

static long get_original(struct dh_inode *i, struct slot *s)
{
    if (s->original < 0) {
        long fd = open_original(i);
        if (fd < 0)
            return fd;
        s->original = (int)fd;
        if (dh_engine->flags & DH_ENGINE_FORK) /* the number means nothing to other children */
            use(s);
    }
    return s->original;
}

static long get_empty(struct slot *s)
{
    if (s->copy < 0) {
        long fd = dh_contents_move_away(
            dh_kernel_call(SYS_memfd_create, (long)"file", 3 /* CLOEXEC, ALLOW_SEALING */, 0, 0, 0, 0));
        if (fd < 0)
            return fd;
        s->copy = (int)fd;
    }
    return s->copy;
}

static long copy_bytes(const struct slot *s, int64_t from, int64_t to)
{
    while (from < to) {
        int64_t part = to - from < BUFFER ? to - from : BUFFER;
        long n = dh_kernel_call(SYS_pread64, s->original, (long)contents->buffer, part, from, 0, 0);
        if (n <= 0)
            return n;
        long written = dh_kernel_call(SYS_pwrite64, s->copy, (long)contents->buffer, n, from, 0, 0);
        if (written != n)
            return written < 0 ? written : -ENOSPC;
        from += n;
    }
    return 0;
}

/* Without its holes. */
static long copy_data(const struct slot *s, int64_t from, int64_t to)
{
    long result = 0;
    while (result == 0 && from < to) {
        int64_t data = dh_kernel_call(SYS_lseek, s->original, from, SEEK_DATA, 0, 0, 0);
        if (data == -ENXIO || data >= to)
            return 0;
        int64_t hole = data < 0 ? to : dh_kernel_call(SYS_lseek, s->original, data, SEEK_HOLE, 0, 0, 0);
        hole = hole < to ? hole : to;
        result = copy_bytes(s, data < 0 ? from : data, hole);
        from = hole;
    }
    return result;
}

static long copy_all(struct slot *s)
{
    long result = dh_kernel_call(SYS_ftruncate, s->copy, s->size, 0, 0, 0, 0);
    return result < 0 ? result : copy_data(s, 0, s->size);
}

static bool is_fresh(const struct slot *s, const struct stat *now)
{
    return s->copy >= 0 && s->size == now->st_size && s->modified.tv_sec == now->st_mtim.tv_sec &&
           s->modified.tv_nsec == now->st_mtim.tv_nsec;
}

static long get_copy(struct dh_inode *i, struct slot *s)
{
    struct stat now;
    long original = get_original(i, s), result;
    if (original < 0)
        return original;
    if ((result = dh_kernel_call(SYS_fstat, original, (long)&now, 0, 0, 0, 0)) < 0 || is_fresh(s, &now))
        return result < 0 ? result : s->copy;
    if ((uint64_t)now.st_blocks * UNIT > contents->most)
        dh_engine_cannot("a file of %lu MB is changed, which is more than the layer of files holds",
                         (unsigned long)now.st_size >> 20);
    s->size = now.st_size;
    s->modified = now.st_mtim;
    close_if_open(&s->copy);
    result = get_empty(s);
    result = result < 0 ? result : copy_all(s);
    if (result < 0)
        close_if_open(&s->copy);
    return result < 0 ? result : s->copy;
}

long dh_content_writer(struct dh_inode *i)
{
    if (i->content)
        return contents->slots[i->content].copy;
    struct slot *s = slot_of(i);
    if (!s)
        return -ENOSPC;
    long fd = s->number ? get_copy(i, s) : get_empty(s);
    if (fd >= 0)
        claim(i, s);
    return fd;
}

long dh_content_reader(struct dh_inode *i)
{
    if (i->content || (!i->base && i->inherited < 0))
        return dh_content_writer(i);
    struct slot *s = slot_of(i);
    return s ? get_original(i, s) : -ENFILE;
}

long dh_content_pin(struct dh_inode *i)
{
    struct slot *s = slot_of(i);
    long fd = s ? get_copy(i, s) : -ENOSPC;
    if (fd < 0)
        return fd;
    s->pinned = s->mapped = true;
    i->content = (uint32_t)(s - contents->slots);
    return fd;
}

int64_t dh_content_size(struct dh_inode *i)
{
    struct stat s;
    if (!i->content)
        return i->about.st_size;
    return dh_kernel_call(SYS_fstat, contents->slots[i->content].copy, (long)&s, 0, 0, 0, 0) < 0 ? 0 : s.st_size;
}

/* ---- room ---- */

static void say_full(const char *what)
{
    char *text = dh_engine->control->progress.text;
    if (!text[0])
        dh_print_text(text, sizeof dh_engine->control->progress.text, "%s is full: a write got ENOSPC", what);
}

static struct device *device_of(const struct dh_inode *i)
{
    struct statfs s;
    const struct dh_inode *with_base = i;
    struct device *d = contents->devices;
    for (; d < contents->devices + DEVICES && d->number; d++)
        if (d->number == i->about.st_dev)
            return d;
    while (with_base && !with_base->base)
        with_base = with_base->parent;
    if (d == contents->devices + DEVICES || !with_base ||
        dh_kernel_call(SYS_statfs, (long)with_base->base, (long)&s, 0, 0, 0, 0) < 0)
        return NULL;
    *d = (struct device){i->about.st_dev, (uint64_t)s.f_bavail * (uint64_t)s.f_bsize};
    return d;
}

/* What is really allocated; `added` does not know what was truncated or overwritten. */
static uint64_t allocated(void)
{
    uint64_t sum = 0;
    for (uint32_t n = 1; n <= contents->n_slots; n++) {
        struct stat s;
        if (contents->slots[n].used && dh_kernel_call(SYS_fstat, contents->slots[n].copy, (long)&s, 0, 0, 0, 0) == 0)
            sum += (uint64_t)s.st_blocks * UNIT;
    }
    return sum;
}

static long make_room(const struct dh_inode *i, uint64_t more)
{
    struct device *d = device_of(i);
    if (added + more > contents->most && (added = allocated()) + more > contents->most) {
        say_full("the layer of files");
        return -ENOSPC;
    }
    if (d && added_on[d - contents->devices] + more > d->room) {
        say_full("the file system");
        return -ENOSPC;
    }
    added += more;
    if (d)
        added_on[d - contents->devices] += more;
    return 0;
}

static void note_range(struct slot *s, struct range r)
{
    use(s);
    for (uint32_t n = 0; n < s->n_ranges; n++) {
        struct range *known = &s->ranges[n];
        if ((r.from <= known->to && r.to >= known->from) || s->n_ranges == RANGES) {
            known->from = r.from < known->from ? r.from : known->from;
            known->to = r.to > known->to ? r.to : known->to;
            return;
        }
    }
    s->ranges[s->n_ranges++] = r;
}

long dh_content_reserve(struct dh_inode *i, int64_t from, int64_t to)
{
    struct slot *s = &contents->slots[i->content];
    int64_t size = dh_content_size(i);
    long result = to > size ? make_room(i, (uint64_t)(to - (from > size ? from : size))) : 0;
    if (result == 0 && s->number)
        note_range(s, (struct range){from, to});
    return result;
}

long dh_content_truncate(struct dh_inode *i, int64_t size)
{
    if (size == 0 && !i->content) {
        /* What is thrown away need not be copied. */
        struct dh_inode empty = *i;
        empty.base = NULL;
        empty.inherited = -1;
        struct slot *s = slot_of(&empty);
        long fd = s ? get_empty(s) : -ENOSPC;
        if (fd >= 0)
            claim(i, s);
        return fd < 0 ? fd : 0;
    }
    long fd = dh_content_writer(i);
    int64_t before = dh_content_size(i);
    if (fd < 0)
        return fd;
    if (contents->slots[i->content].number)
        note_range(&contents->slots[i->content],
                   size < before ? (struct range){size, before} : (struct range){before, size});
    return dh_kernel_call(SYS_ftruncate, fd, size, 0, 0, 0, 0);
}

void dh_content_set_mapped(const struct dh_inode *i)
{
    contents->slots[i->content].mapped = true;
}

/* ---- in the middle of a run ---- */

/* The copy's content becomes what is copied from. */
static bool freeze(struct slot *s)
{
    struct stat now;
    struct slot frozen = {.original = s->copy, .copy = -1};
    if (dh_kernel_call(SYS_fstat, s->copy, (long)&now, 0, 0, 0, 0) < 0 || get_empty(&frozen) < 0)
        return false;
    frozen.size = s->size = now.st_size;
    if (copy_all(&frozen) < 0)
        return false;
    close_if_open(&s->original);
    s->original = frozen.copy;
    s->number = s->number ? s->number : (ino_t)-1;
    s->n_ranges = 0;
    s->pinned = true;
    return true;
}

void dh_contents_begin_here(void)
{
    for (uint32_t n = 1; n <= contents->n_slots; n++) {
        struct slot *s = &contents->slots[n];
        if (!s->used && !s->pinned)
            continue;
        s->used = false;
        if (!freeze(s))
            dh_engine_cannot("no memory");
        if (s->mapped)
            use(s);
    }
}

/* ---- the end ---- */

static void empty_slot(struct slot *s)
{
    if (dh_kernel_call(SYS_fcntl, s->copy, 1034 /* F_GET_SEALS */, 0, 0, 0, 0) != 0 ||
        dh_kernel_call(SYS_ftruncate, s->copy, 0, 0, 0, 0, 0) < 0)
        close_if_open(&s->copy);
}

/* What was written into a hole goes; holes cost nothing. */
static long restore_range(const struct slot *s, struct range r)
{
    int64_t to = r.to < s->size ? r.to : s->size;
    if (r.from >= to)
        return 0;
    dh_kernel_call(SYS_fallocate, s->copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, r.from, to - r.from, 0, 0);
    return copy_data(s, r.from, to);
}

static void restore_ranges(struct slot *s)
{
    long result = dh_kernel_call(SYS_ftruncate, s->copy, s->size, 0, 0, 0, 0);
    for (uint32_t n = 0; result == 0 && n < s->n_ranges; n++)
        result = restore_range(s, s->ranges[n]);
    if (result < 0)
        close_if_open(&s->copy);
}

/* Descriptors that a child opened are no use to its parent, which has what was mapped before. */
void dh_content_undo(uint32_t slot)
{
    struct slot *s = &contents->slots[slot];
    bool forks = dh_engine->flags & DH_ENGINE_FORK;
    if (s->pinned && (forks || (dh_engine->vanishes && s->mapped)))
        copy_all(s);
    else if (forks) {
        close_if_open(&s->copy);
        close_if_open(&s->original);
        *s = (struct slot){.original = -1, .copy = -1};
    } else if (s->number)
        restore_ranges(s);
    else if (s->copy >= 0)
        empty_slot(s);
    s->n_ranges = 0;
    s->used = false;
    s->mapped &= s->pinned;
}

void dh_content_drop(struct dh_inode *i)
{
    struct slot *s = &contents->slots[i->content];
    if (!i->content || s->number || i->mapped)
        return;
    dh_kernel_call(SYS_ftruncate, s->copy, 0, 0, 0, 0, 0);
}
