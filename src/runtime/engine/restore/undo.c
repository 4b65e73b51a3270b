#include "runtime/engine/restore/undo.h"

#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_mappings.h"
#include "runtime/engine/system/kernel_call.h"

#include <sys/mman.h>

enum { ENTRIES = 1 << 16 };

static struct log {
    struct entry {
        uint32_t kind;
        long a, b, c;
    } at[ENTRIES];
    uint32_t n, begin; /* entries before `begin` stay done */
} *log;

bool dh_undo_init(void)
{
    log = dh_keep_alloc(sizeof *log);
    return log;
}

/* Offsets of files are kept again when they next change. */
void dh_undo_begin(void)
{
    log->begin = log->n;
    dh_files_begin_here();
}

void dh_undo_log(enum dh_undo_kind kind, long a, long b, long c)
{
    /* What processes share is undone in children, too. */
    bool lasts = kind == DH_UNDO_CONTENT || kind == DH_UNDO_SHARED;
    if (dh_engine->carrier->is_kernel || (dh_engine->vanishes && !lasts))
        return;
    if (log->n == ENTRIES)
        dh_engine_cannot("more system calls in one schedule than can be undone");
    log->at[log->n++] = (struct entry){kind, a, b, c};
}

static void undo_close(const struct entry *e)
{
    dh_kernel_call(SYS_close, e->a, 0, 0, 0, 0, 0);
    dh_files_restored((int)e->a);
}

static void undo_reopen(const struct entry *e)
{
    dh_kernel_call(SYS_dup3, e->b, e->a, e->c, 0, 0, 0);
    dh_kernel_call(SYS_close, e->b, 0, 0, 0, 0, 0);
    dh_files_restored((int)e->a);
}

static void undo_unmap(const struct entry *e)
{
    dh_kernel_call(SYS_munmap, e->a, e->b, 0, 0, 0, 0);
}

static void map_anew(const struct entry *e, long protection)
{
    dh_kernel_call(SYS_mmap, e->a, e->b, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void undo_blank(const struct entry *e)
{
    map_anew(e, PROT_NONE);
}

static void undo_replace(const struct entry *e)
{
    map_anew(e, PROT_READ | PROT_WRITE);
}

static void undo_content(const struct entry *e)
{
    dh_content_undo((uint32_t)e->a);
}

static void undo_shared(const struct entry *e)
{
    dh_shared_mappings_restore(e->a, e->b, e->c);
}

void dh_undo_all(void)
{
    static void (*const how[])(const struct entry *) = {
        [DH_UNDO_CLOSE] = undo_close,   [DH_UNDO_REOPEN] = undo_reopen,   [DH_UNDO_UNMAP] = undo_unmap,
        [DH_UNDO_BLANK] = undo_blank,   [DH_UNDO_REPLACE] = undo_replace, [DH_UNDO_CONTENT] = undo_content,
        [DH_UNDO_SHARED] = undo_shared,
    };
    while (log->n > log->begin) {
        const struct entry *e = &log->at[--log->n];
        how[e->kind](e);
    }
}
