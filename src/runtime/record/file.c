/* The recorder's file: made, grown and shared with the reader. */
#include "runtime/record/state.h"

#include "runtime/core/context.h"
#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { CHUNK = 1 << 16, PATIENCE = 10, SPINS = 1 << 20 };

struct dh_stream_header *dh_stream;
static _Atomic uint8_t present[DH_STREAM_FILE / CHUNK + 1];

/* ---- memory behind the file ---- */

/* Where the file system is full, touching a page would end the program; asked for this way, it is only refused. */
static bool has_room(const void *at, size_t size)
{
    uint64_t from = (uint64_t)((const char *)at - (const char *)dh_stream) / CHUNK;
    uint64_t to = (uint64_t)((const char *)at + size - 1 - (const char *)dh_stream) / CHUNK;
    for (uint64_t i = from; i <= to; i++) {
        if (atomic_load_explicit(&present[i], memory_order_acquire))
            continue;
        uint64_t left = DH_STREAM_FILE - i * CHUNK, n = left < CHUNK ? left : CHUNK;
        long failed = dh_report_is_sandboxed()
                          ? 0
                          : dh_syscall3(SYS_madvise, (long)dh_stream + (long)(i * CHUNK), (long)n, MADV_POPULATE_WRITE);
        if (failed && failed != -EINVAL) /* kernels before 5.14 do not know it */
            return false;
        atomic_store_explicit(&present[i], 1, memory_order_release);
    }
    return true;
}

static void *part(uint64_t offset)
{
    return (char *)dh_stream + offset;
}

/* ---- blocks ---- */

static struct dh_stream_block *block_at(uint32_t index)
{
    return (struct dh_stream_block *)part(DH_STREAM_BLOCKS_AT) + index;
}

static struct dh_stream_block *used_before(void)
{
    uint64_t head = atomic_load_explicit(&dh_stream->free_blocks, memory_order_acquire), next;
    struct dh_stream_block *b;
    do {
        uint32_t index = (uint32_t)head;
        if (!index || index > DH_STREAM_BLOCKS)
            return NULL;
        b = block_at(index - 1);
        next = ((head >> 32) + 1) << 32 | atomic_load_explicit(&b->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&dh_stream->free_blocks, &head, next, memory_order_acq_rel,
                                                    memory_order_acquire));
    return b;
}

static struct dh_stream_block *never_used(const struct dh_stream_lane *lane)
{
    uint32_t n = atomic_load(&dh_stream->n_blocks), most = (uint32_t)dh_options.stream_ahead;
    /* Each thread may have two blocks, whatever the others have. */
    if (n >= most && atomic_load(&lane->filled) - atomic_load(&lane->read) > 1)
        return NULL;
    do
        if (n >= DH_STREAM_BLOCKS || !has_room(block_at(n), sizeof(struct dh_stream_block)))
            return NULL;
    while (!atomic_compare_exchange_weak(&dh_stream->n_blocks, &n, n + 1));
    return block_at(n);
}

/* One that is dead and not waited for by its parent yet is noticed by its descriptor alone. */
static bool reader_lives(void)
{
    long fd = dh_syscall3(SYS_pidfd_open, dh_options.stream_reader, 0, 0);
    if (fd < 0)
        return fd != -ESRCH && dh_syscall3(SYS_kill, dh_options.stream_reader, 0, 0) != -ESRCH;
    struct pollfd f = {.fd = (int)fd, .events = POLLIN};
    long ended = dh_syscall3(SYS_poll, (long)&f, 1, 0);
    dh_sys_close((int)fd);
    return ended <= 0;
}

/* False when no reader is left. A confined process (seccomp) may only test. */
static bool wait_for_reader(unsigned *tries)
{
    struct timespec tenth = {0, 100000000};
    uint32_t seen = atomic_load(&dh_stream->freed);
    if (atomic_load(&dh_stream->closed))
        return false;
    if (dh_report_is_sandboxed()) {
        __builtin_ia32_pause();
        return ++*tries < SPINS;
    }
    if (++*tries % PATIENCE == 0 && !reader_lives())
        return false;
    atomic_fetch_add(&dh_stream->waiting, 1);
    if ((uint32_t)atomic_load(&dh_stream->free_blocks) == 0)
        dh_syscall6(SYS_futex, (long)&dh_stream->freed, FUTEX_WAIT, seen, (long)&tenth, 0, 0);
    atomic_fetch_sub(&dh_stream->waiting, 1);
    return true;
}

struct dh_stream_block *dh_stream_block_new(struct dh_stream_lane *lane)
{
    for (unsigned tries = 0; dh_record_on;) {
        struct dh_stream_block *b = used_before();
        if (!b)
            b = never_used(lane);
        if (b) {
            atomic_store_explicit(&b->next, 0, memory_order_relaxed);
            atomic_store_explicit(&b->used, 0, memory_order_release);
            return b;
        }
        if (!wait_for_reader(&tries))
            dh_stream_stop();
    }
    return NULL;
}

struct dh_stream_lane *dh_stream_lane_new(uint32_t *number)
{
    struct dh_stream_lane *lanes = part(DH_STREAM_LANES_AT);
    uint32_t n = atomic_load(&dh_stream->n_lanes);
    do
        if (n >= DH_STREAM_LANES || !has_room(&lanes[n], sizeof *lanes))
            return NULL;
    while (!atomic_compare_exchange_weak(&dh_stream->n_lanes, &n, n + 1));
    *number = n;
    return &lanes[n];
}

/* ---- what the numbers mean ---- */

void dh_stream_context(uint32_t id)
{
    struct dh_stream_context *all = part(DH_STREAM_CONTEXTS_AT);
    while (id && id < DH_STREAM_CONTEXTS && has_room(&all[id], sizeof *all) &&
           !__atomic_load_n(&all[id].return_address, __ATOMIC_ACQUIRE)) {
        uintptr_t address;
        uint32_t parent = dh_context_parent(id, &address);
        all[id].parent = parent;
        __atomic_store_n(&all[id].return_address, address, __ATOMIC_RELEASE);
        id = parent;
    }
}

void dh_stream_thread(uint32_t index, uint32_t parent, uint32_t context, const char *name)
{
    struct dh_stream_thread *all = part(DH_STREAM_THREADS_AT);
    if (index >= DH_STREAM_THREADS || !has_room(&all[index], sizeof *all))
        return;
    dh_stream_context(context);
    all[index].parent = parent;
    all[index].context = context;
    dh_text_copy(all[index].name, sizeof all[index].name, name);
    atomic_store_explicit(&all[index].known, 1, memory_order_release);
}

/* ---- beginning and end ---- */

static void fill_header(void)
{
    struct dh_stream_header *h = dh_stream;
    struct timespec now = {0};
    dh_syscall3(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0);
    h->version = DH_STREAM_VERSION;
    h->endianness = DH_STREAM_ENDIANNESS;
    h->size = DH_STREAM_FILE;
    h->pid = (uint32_t)dh_process.pid;
    h->started = (uint64_t)now.tv_sec;
    dh_bytes_copy(h->id, __dh_module_id, sizeof h->id);
    dh_text_copy(h->variant, sizeof h->variant, __dh_variant);
    dh_text_copy(h->program, sizeof h->program, dh_process.path ? dh_process.path : "");
    dh_text_copy(h->original, sizeof h->original, dh_process.original ? dh_process.original : "");
    atomic_store(&h->state, DH_STREAM_RUNS_NOW);
    dh_bytes_copy(h->magic, DH_STREAM_MAGIC, sizeof h->magic);
}

/* A limit on the size of files would end the program, not only refuse. */
static bool size_allowed(void)
{
    struct rlimit limit;
    return dh_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) || limit.rlim_cur > DH_STREAM_FILE;
}

static long map_file(const char *path)
{
    long fd = dh_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fd;
    long failed = size_allowed() ? dh_syscall3(SYS_ftruncate, fd, DH_STREAM_FILE, 0) : -EFBIG;
    long at = failed ? failed : dh_syscall6(SYS_mmap, 0, DH_STREAM_FILE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    dh_sys_close((int)fd);
    if ((unsigned long)at > -4096UL)
        return at;
    dh_stream = (struct dh_stream_header *)at;
    dh_syscall3(SYS_madvise, at, DH_STREAM_FILE, MADV_DONTDUMP);
    return has_room(dh_stream, DH_STREAM_THREADS_AT) ? 0 : -ENOSPC;
}

/* Named as a whole when its beginning is written. One process may have several, one after the other, by exec. */
bool dh_stream_open(void)
{
    static unsigned made;
    char path[DH_STREAM_PATH], hidden[DH_STREAM_PATH], scratch[32];
    struct timespec now = {0};
    dh_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    dh_print_text(hidden, sizeof hidden, "%s/.%d", dh_options.stream, dh_process.pid);
    dh_print_text(path, sizeof path, "%s/%d-%ld-%ld-%u" DH_STREAM_SUFFIX, dh_options.stream, dh_process.pid,
                  (long)now.tv_sec, now.tv_nsec, made++);
    long failed = map_file(hidden);
    if (!failed) {
        fill_header();
        failed = dh_syscall6(SYS_renameat, AT_FDCWD, (long)hidden, AT_FDCWD, (long)path, 0, 0);
    }
    if (!failed)
        return true;
    dh_syscall3(SYS_unlink, (long)hidden, 0, 0);
    /* Not reported when the tool is gone. */
    if (failed != -ENOENT)
        dh_print_stderr("deadheat: process %d is not recorded: %s: %s\n", dh_process.pid, dh_options.stream,
                        dh_print_error((int)-failed, scratch, sizeof scratch));
    dh_stream_drop();
    return false;
}

void dh_stream_drop(void)
{
    if (dh_stream)
        dh_sys_munmap(dh_stream, DH_STREAM_FILE);
    dh_stream = NULL;
    for (size_t i = 0; i < sizeof present / sizeof *present; i++)
        atomic_store_explicit(&present[i], 0, memory_order_relaxed);
}

/* The mapping stays: other threads may be writing. */
void dh_stream_stop(void)
{
    dh_record_on = false;
}
