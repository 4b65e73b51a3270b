#include "runtime/core/modules.h"

#include "runtime/core/context.h"
#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define MOST 4096
#define FRAMES_NOTED 64

static struct dh_module table[MOST];
static _Atomic uint32_t count;

/* Newest first: a later module may lie where a closed one was. */
const struct dh_module *dh_modules_find(uintptr_t address)
{
    for (uint32_t i = atomic_load_explicit(&count, memory_order_acquire); i-- > 0;)
        if (address >= table[i].start && address < table[i].end)
            return &table[i];
    return NULL;
}

static struct dh_module range_of(const struct dl_phdr_info *info)
{
    struct dh_module m = {.start = UINTPTR_MAX, .base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        m.start = start < m.start ? start : m.start;
        m.end = end > m.end ? end : m.end;
    }
    return m;
}

static bool already_there(const struct dh_module *m, const char *path)
{
    const struct dh_module *old = dh_modules_find(m->start);
    return old && old->start == m->start && old->end == m->end && dh_text_equal(old->path, path);
}

/* The dynamic linker serialises calls, so there is one writer. */
static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    uint32_t n = atomic_load_explicit(&count, memory_order_relaxed);
    const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : dh_process.path;
    struct dh_module m = range_of(info);
    if (n == MOST || m.start >= m.end || !path || already_there(&m, path))
        return 0;
    m.path = dh_alloc_text(path);
    if (!m.path)
        return 0;
    table[n] = m;
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return 0;
}

void dh_modules_note(uint32_t context)
{
    uintptr_t frames[FRAMES_NOTED];
    size_t n = dh_context_frames(context, frames, FRAMES_NOTED);
    for (size_t i = 0; i < n && i < FRAMES_NOTED; i++)
        if (!dh_modules_find(frames[i])) {
            dl_iterate_phdr(add_module, NULL);
            return;
        }
}
