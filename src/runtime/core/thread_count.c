/* Counts created threads for the tool, which asks for it when nothing else watches the program. */
#include "event/thread_count.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/thread_count.h"
#include "runtime/platform/tool_file.h"

static struct dh_thread_count *count; /* NULL: not asked for */

void dh_thread_count_start(void)
{
    size_t mapped;
    count = dh_options.thread_count ? dh_tool_file_map(dh_options.thread_count, sizeof *count, &mapped) : NULL;
    if (count)
        count->loaded = 1;
}

void dh_thread_count_add(void)
{
    if (!count)
        return;
    bool first = (uint32_t)dh_process.pid == count->process;
    __atomic_fetch_add(first ? &count->threads : &count->others, 1, __ATOMIC_RELAXED);
}
