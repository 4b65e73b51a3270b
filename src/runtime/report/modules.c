#include "runtime/report/modules.h"

#include "runtime/core/modules.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"

#include <dlfcn.h>
#include <link.h>

#define MOST 256

static struct dh_log_module modules[MOST];
static uintptr_t bases[MOST];
static uint32_t n_modules;

void dh_report_modules_begin(void)
{
    n_modules = 0;
}

const struct dh_log_module *dh_report_modules_end(uint32_t *n)
{
    *n = n_modules;
    return modules;
}

static bool is_executable(const char *path)
{
    return dh_process.path && dh_text_equal(path, dh_process.path);
}

static uint32_t index_of(const char *path, uintptr_t base)
{
    for (uint32_t i = 0; i < n_modules; i++)
        if (bases[i] == base && dh_text_equal(modules[i].path, path))
            return i;
    if (n_modules == MOST)
        return DH_LOG_NONE;
    modules[n_modules] = (struct dh_log_module){.path = path};
    if (is_executable(path))
        dh_bytes_copy(modules[n_modules].id, __dh_module_id, sizeof modules->id);
    bases[n_modules] = base;
    return n_modules++;
}

/* The dynamic linker's present module takes precedence: an address may have been another module's before. */
static uint32_t find(uintptr_t address, uintptr_t *base)
{
    struct dl_find_object o;
    if (_dl_find_object((void *)address, &o) == 0 && o.dlfo_link_map) {
        const char *name = o.dlfo_link_map->l_name;
        *base = o.dlfo_link_map->l_addr;
        return index_of(name && *name ? name : dh_process.path ? dh_process.path : "?", *base);
    }
    const struct dh_module *closed = dh_modules_find(address);
    if (!closed)
        return DH_LOG_NONE;
    *base = closed->base;
    return index_of(closed->path, closed->base);
}

struct dh_log_address dh_report_address(uintptr_t address)
{
    uintptr_t base = 0;
    uint32_t module = find(address, &base);
    return (struct dh_log_address){.module = module, .offset = module == DH_LOG_NONE ? address : address - base};
}

uint32_t dh_report_module_of(uintptr_t address)
{
    uintptr_t base;
    return find(address, &base);
}
