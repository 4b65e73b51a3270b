/* Which files the addresses and places of the stream belong to. */
#include "runtime/record/state.h"

#include "runtime/core/instrumented_modules.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"

#include <link.h>

static struct dh_stream_module *table(void)
{
    return (struct dh_stream_module *)((char *)dh_stream + DH_STREAM_MODULES_AT);
}

static void range_of(const struct dl_phdr_info *info, struct dh_stream_module *m)
{
    m->low = UINT64_MAX;
    m->high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        m->low = start < m->low ? start : m->low;
        m->high = end > m->high ? end : m->high;
    }
}

/* A library may be known before its places are. */
static bool is_there(const struct dh_stream_module *m, const char *path)
{
    uint32_t n = atomic_load(&dh_stream->n_modules);
    for (uint32_t i = 0; i < n; i++) {
        struct dh_stream_module *old = &table()[i];
        if (old->low != m->low || old->high != m->high || !dh_text_equal(old->path, path))
            continue;
        if (old->first_place != m->first_place) {
            __atomic_store_n(&old->first_place, m->first_place, __ATOMIC_RELEASE);
            atomic_fetch_add(&dh_stream->modules_changed, 1);
        }
        return true;
    }
    return false;
}

/* The dynamic linker serialises calls, so there is one writer. The executable comes first. */
static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    uint32_t n = atomic_load(&dh_stream->n_modules);
    bool executable = !n || !info->dlpi_name || !info->dlpi_name[0];
    const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : dh_process.path;
    struct dh_stream_module m = {.load = info->dlpi_addr};
    range_of(info, &m);
    m.first_place = executable ? 0 : dh_module_places(m.low, m.high);
    if (n == DH_STREAM_MODULES || m.low >= m.high || !path || dh_text_length(path) >= sizeof m.path ||
        is_there(&m, path))
        return 0;
    if (executable)
        dh_bytes_copy(m.id, __dh_module_id, sizeof m.id);
    dh_text_copy(m.path, sizeof m.path, path);
    table()[n] = m;
    atomic_store_explicit(&dh_stream->n_modules, n + 1, memory_order_release);
    atomic_fetch_add(&dh_stream->modules_changed, 1);
    return 0;
}

void dh_record_modules(void)
{
    if (dh_record_on)
        dl_iterate_phdr(add_module, NULL);
}
