#include "runtime/core/variant.h"

#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/environment.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <sys/stat.h>

/* Set when this is not what was asked for. */
static const char *asked, *why;

/* argv of the tool; it executes the variant, or this program again with DEADHEAT_AS_LINKED saying why not. */
static long exec_tool(const char *tool, int argc, char **argv, char **envp)
{
    static const size_t fixed = 5;
    char **call = dh_alloc_forever(((size_t)argc + fixed + 1) * sizeof *call);
    if (!call)
        return -ENOMEM;
    call[0] = (char *)"deadheat";
    call[1] = (char *)"exec-variant";
    call[2] = dh_alloc_joined("--variant=", asked);
    call[3] = (char *)"--";
    call[4] = (char *)dh_process.path;
    for (int i = 0; i < argc; i++)
        call[fixed + (size_t)i] = argv[i];
    return call[2] ? dh_sys_execve(tool, call, envp) : -ENOMEM;
}

/* Whether the tool can execute this program again if need be: not one that was removed or replaced meanwhile, or that
 * lies in memory only. Without /proc there is nothing to compare with. */
static bool can_return(void)
{
    struct stat named, running;
    return dh_syscall3(SYS_stat, (long)"/proc/self/exe", (long)&running, 0) != 0 ||
           (dh_syscall3(SYS_stat, (long)dh_process.path, (long)&named, 0) == 0 && named.st_dev == running.st_dev &&
            named.st_ino == running.st_ino && dh_syscall3(SYS_access, (long)dh_process.path, 1, 0) == 0);
}

void dh_variant_become(int argc, char **argv, char **envp)
{
    const char *tool = dh_environment_find(envp, "DEADHEAT_TOOL=");
    static char scratch[32];
    asked = dh_environment_find(envp, "DEADHEAT_VARIANT=");
    why = dh_environment_take(envp, "DEADHEAT_AS_LINKED=");
    if (why || !asked || !*asked || !tool || !*tool || !dh_process.path || dh_text_equal(asked, __dh_variant))
        return;
    if (!can_return()) {
        why = "its file is gone";
        return;
    }
    long failed = exec_tool(tool, argc, argv, envp);
    const char *colon = dh_alloc_joined(tool, ": ");
    const char *error = dh_print_error((int)-failed, scratch, sizeof scratch);
    why = colon ? dh_alloc_joined(colon, error) : NULL;
    why = why ? why : error;
}

void dh_variant_confess(void)
{
    struct dh_sink text;
    if (!why || !asked)
        return;
    dh_sink_start(&text, -1);
    dh_sink_printf(&text, "%s runs as it was linked, not as the variant %s: %s",
                   dh_process.path ? dh_process.path : "the program", asked, why);
    dh_sink_char(&text, 0);
    text.bytes[sizeof text.bytes - 1] = 0;
    dh_report_note(text.bytes);
}
