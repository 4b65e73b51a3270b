#include "runtime/core/public_hooks.h"

#include "runtime/core/instrumented_modules.h"

#include "event/engine.h"
#include "runtime/core/thread_state.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/sync/sync.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum {
    OF_EXECUTABLE = DH_PLACES_OF_EXECUTABLE,
    OF_LIBRARY = DH_PLACES_OF_LIBRARY,
    LIBRARIES = (OF_EXECUTABLE / OF_LIBRARY) - 1
};

struct library {
    _Atomic uintptr_t start; /* 0 = not filled in yet */
    uintptr_t end;
    struct dh_file_identity file;
};

static struct library libraries[LIBRARIES];
static _Atomic uint32_t n_libraries;

extern const char __executable_start[], etext[];

uint32_t (*dh_module_numbering)(const struct dh_module_file *file, uint32_t first);

/* Newest first: one may lie where another was that is closed. */
static const struct library *library_of(uintptr_t code)
{
    uint32_t n = atomic_load_explicit(&n_libraries, memory_order_acquire);
    for (uint32_t i = n < LIBRARIES ? n : LIBRARIES; i-- > 0;) {
        uintptr_t start = atomic_load_explicit(&libraries[i].start, memory_order_acquire);
        if (start && code - start < libraries[i].end - start)
            return &libraries[i];
    }
    return NULL;
}

bool dh_module_is_instrumented(uintptr_t code)
{
    uintptr_t start = (uintptr_t)__executable_start;
    return code - start < (uintptr_t)etext - start || library_of(code);
}

uintptr_t dh_constant_start, dh_constant_size;

/* Up to the first segment that can be written. */
void dh_modules_init(void)
{
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    uintptr_t base = (uintptr_t)__executable_start, first = 0, end = UINTPTR_MAX;
    const ElfW(Phdr) *p = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    for (int i = 0; i < __ehdr_start.e_phnum; i++) {
        if (p[i].p_type == PT_LOAD && !p[i].p_offset)
            first = p[i].p_vaddr;
        if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_W && p[i].p_vaddr < end)
            end = p[i].p_vaddr;
    }
    dh_constant_start = base;
    dh_constant_size = end == UINTPTR_MAX || end < first ? 0 : end - first;
}

bool dh_module_file_at(uintptr_t address, struct dh_module_file *out)
{
    struct dl_find_object o;
    struct stat s;
    if (_dl_find_object((void *)address, &o) != 0 || !o.dlfo_link_map)
        return false;
    const char *name = o.dlfo_link_map->l_name;
    *out = (struct dh_module_file){.path = name ? name : "",
                                   .start = (uintptr_t)o.dlfo_map_start,
                                   .end = (uintptr_t)o.dlfo_map_end,
                                   .bias = o.dlfo_link_map->l_addr};
    if (dh_syscall3(SYS_stat, (long)out->path, (long)&s, 0) == 0)
        out->file = dh_file_identity_of(&s);
    return true;
}

/* More libraries than there are ranges share the last one: places of theirs are then not known. */
static uint32_t join(uintptr_t code_start, uintptr_t code_end, const struct dh_module_file *file)
{
    const struct library *known = library_of(code_start);
    if (known && known->start == code_start && dh_file_identity_equal(known->file, file->file))
        return OF_EXECUTABLE + (uint32_t)(known - libraries) * OF_LIBRARY; /* loaded again at the same place */
    uint32_t n = atomic_fetch_add_explicit(&n_libraries, 1, memory_order_acq_rel);
    if (n >= LIBRARIES)
        return DH_PLACE_NONE;
    libraries[n].end = code_end;
    libraries[n].file = file->file;
    atomic_store_explicit(&libraries[n].start, code_start, memory_order_release);
    return OF_EXECUTABLE + n * OF_LIBRARY;
}

uintptr_t dh_module_of_place(uint32_t *place)
{
    if (*place < OF_EXECUTABLE || *place == DH_PLACE_NONE)
        return 0;
    uint32_t n = (*place - OF_EXECUTABLE) / OF_LIBRARY;
    *place = (*place - OF_EXECUTABLE) % OF_LIBRARY;
    return n < LIBRARIES ? libraries[n].start : 0;
}

uint32_t dh_module_places(uintptr_t low, uintptr_t high)
{
    uint32_t n = atomic_load_explicit(&n_libraries, memory_order_acquire);
    for (uint32_t i = n < LIBRARIES ? n : LIBRARIES; i-- > 0;) {
        uintptr_t start = atomic_load_explicit(&libraries[i].start, memory_order_acquire);
        if (start && start - low < high - low)
            return OF_EXECUTABLE + i * OF_LIBRARY;
    }
    return DH_NO_PLACE;
}

uint32_t __dh_join(const void *code, const void *code_end)
{
    struct dh_module_file file = {.path = ""};
    dh_module_file_at((uintptr_t)code, &file);
    uint32_t first = join((uintptr_t)code, (uintptr_t)code_end, &file);
    if (dh_module_numbering)
        first = dh_module_numbering(&file, first);
    dh_modules_changed();
    return first;
}
