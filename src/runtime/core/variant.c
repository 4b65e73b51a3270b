#include "runtime/core/variant.h"

#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/environment.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Set when this is not what was asked for. */
static const char *asked, *why;
/* What the tool wrote of this program as a subject of the run (launch/subject_record.h). */
static const char *record;

/* argv of the tool; it executes the variant, or this program again with DEADHEAT_AS_LINKED saying why not. */
static long exec_tool(const char *tool, int argc, char **argv, char **envp)
{
    static const size_t fixed = 5;
    char **call = dh_alloc_forever(((size_t)argc + fixed + 1) * sizeof *call);
    if (!call)
        return -ENOMEM;
    call[0] = (char *)"deadheat";
    call[1] = (char *)"exec-variant";
    call[2] = dh_alloc_joined("--variant=", asked ? asked : "");
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
    record = dh_environment_take(envp, "DEADHEAT_REPORTED=");
    bool is_it = !asked || !*asked || dh_text_equal(asked, __dh_variant);
    bool reports = !record && dh_environment_find(envp, "DEADHEAT_SUBJECTS=");
    if (why || (is_it && !reports) || !tool || !*tool || !dh_process.path)
        return;
    if (!can_return()) {
        why = is_it ? NULL : "its file is gone";
        return;
    }
    asked = is_it ? NULL : asked;
    long failed = exec_tool(tool, argc, argv, envp);
    const char *colon = dh_alloc_joined(tool, ": ");
    const char *error = dh_print_error((int)-failed, scratch, sizeof scratch);
    why = colon ? dh_alloc_joined(colon, error) : NULL;
    why = why ? why : error;
}

/* A file beside the record says it, so that nothing has to be written at the end. */
void dh_variant_note_threads(void)
{
    static bool noted;
    if (noted || !record || !*record)
        return;
    noted = true;
    const char *mark = dh_alloc_joined(record, ".threads");
    long fd = mark ? dh_sys_open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        dh_sys_close((int)fd);
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
