/* Counts created threads for the tool, which asks for it when nothing else watches the program. */
#include "event/thread_count.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/thread_count.h"
#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <sys/mman.h>

static struct dh_thread_count *count; /* NULL: not asked for */

void dh_thread_count_start(void)
{
    long fd = dh_options.thread_count ? dh_sys_open(dh_options.thread_count, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0)
        return;
    long at = dh_syscall6(SYS_mmap, 0, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    dh_sys_close((int)fd);
    if ((unsigned long)at > -4096ul)
        return;
    count = (struct dh_thread_count *)at;
    count->loaded = 1;
}

void dh_thread_count_add(void)
{
    if (!count)
        return;
    bool first = (uint32_t)dh_process.pid == count->process;
    __atomic_fetch_add(first ? &count->threads : &count->others, 1, __ATOMIC_RELAXED);
}
