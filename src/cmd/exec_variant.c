/* exec-variant --variant=NAME -- EXE ARGV0 ARGS...: called by the runtime at program start; NAME may be empty, then the
 * program is only to be recorded as a subject of the run. The program was started by
 * one of the user's, which expects it to run: where there is no variant for it, it runs as it was linked and says so.
 */
#include "base/str.h"
#include "cmd/command.h"
#include "launch/launch.h"
#include "launch/subject_record.h"

#include <string.h>

int dh_main_exec_variant(int argc, char **argv)
{
    static const char prefix[] = "--variant=";
    struct dh_err err = {0};
    if (argc < 5 || !dh_starts_with(argv[1], prefix) || strcmp(argv[2], "--") != 0) {
        dh_notice("exec-variant: for the runtime's use only");
        return DH_EXIT_USAGE;
    }
    dh_subject_record_write(argv[3], argv + 4);
    dh_launch_exec_variant(argv[3], argv[1] + strlen(prefix), argv + 4, &err);
    return dh_fail(&err, DH_EXIT_FAILURE);
}
