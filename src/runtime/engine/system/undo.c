#include "runtime/engine/system/undo.h"

#include "runtime/engine/system/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signal.h"
#include "runtime/platform/bytes.h"

#include <sys/mman.h>

enum { ENTRIES = 1 << 16, SIGNALS = 65 };

static struct log {
    struct entry {
        uint32_t kind;
        long a, b, c;
    } at[ENTRIES];
    uint32_t n;
    struct dh_kernel_sigaction actions[SIGNALS];
    bool kept[SIGNALS];
} *log;

bool dh_undo_init(void)
{
    log = dh_keep_alloc(sizeof *log);
    return log;
}

void dh_undo_log(enum dh_undo_kind kind, long a, long b, long c)
{
    if (dh_engine->carrier->is_kernel)
        return;
    if (log->n == ENTRIES)
        dh_engine_cannot("more system calls in one schedule than can be undone");
    log->at[log->n++] = (struct entry){kind, a, b, c};
}

void dh_undo_log_handler(int signal, const void *action, size_t size)
{
    if (signal <= 0 || signal >= SIGNALS || log->kept[signal])
        return;
    dh_bytes_copy(&log->actions[signal], action, size);
    log->kept[signal] = true;
    dh_undo_log(DH_UNDO_HANDLER, signal, 0, 0);
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

static void undo_offset(const struct entry *e)
{
    dh_kernel_call(SYS_lseek, e->a, e->b, 0, 0, 0, 0);
    dh_files_restored((int)e->a);
}

static void undo_unmap(const struct entry *e)
{
    dh_kernel_call(SYS_munmap, e->a, e->b, 0, 0, 0, 0);
}

static void undo_protect(const struct entry *e)
{
    dh_kernel_call(SYS_mprotect, e->a, e->b, PROT_READ | PROT_WRITE, 0, 0, 0);
}

static void undo_handler(const struct entry *e)
{
    dh_kernel_call(SYS_rt_sigaction, e->a, (long)&log->actions[e->a], 0, 8, 0, 0);
    log->kept[e->a] = false;
}

static void undo_mask(const struct entry *e)
{
    (void)e;
    dh_signals_restore_mask();
}

void dh_undo_all(void)
{
    static void (*const how[])(const struct entry *) = {
        [DH_UNDO_CLOSE] = undo_close, [DH_UNDO_REOPEN] = undo_reopen,   [DH_UNDO_OFFSET] = undo_offset,
        [DH_UNDO_UNMAP] = undo_unmap, [DH_UNDO_PROTECT] = undo_protect, [DH_UNDO_HANDLER] = undo_handler,
        [DH_UNDO_MASK] = undo_mask,
    };
    while (log->n) {
        const struct entry *e = &log->at[--log->n];
        how[e->kind](e);
    }
}
