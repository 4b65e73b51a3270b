/* deadheat run: derive the variant, become it. exec-variant: the same for a program that a script started. */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/threads_print.h"
#include "driver/container.h"
#include "driver/derive.h"
#include "driver/variant.h"
#include "host/process.h"
#include "host/resources.h"
#include "host/supervise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs that this one starts find their variant through these when they start. */
static bool pass_on(const char *plan, struct dh_err *err)
{
    char *self = dh_resource_self(err);
    if (!self)
        return false;
    setenv("DEADHEAT_VARIANT", plan, 1);
    setenv("DEADHEAT_TOOL", self, 1);
    free(self);
    return true;
}

/* The runtime puts the user's LD_LIBRARY_PATH back before the program's own code runs. */
static bool lead_to_libraries(const char *program, const char *plan, struct dh_err *err)
{
    char *folder;
    if (!dh_derive_libraries(program, plan, &folder, err))
        return false;
    if (folder) {
        const char *old = getenv("LD_LIBRARY_PATH");
        char *path = old && *old ? dh_format("%s:%s", folder, old) : dh_strdup(folder);
        setenv("DEADHEAT_RESTORE_LD_LIBRARY_PATH", old ? old : "", 1);
        setenv("LD_LIBRARY_PATH", path, 1);
        free(path);
    }
    free(folder);
    return true;
}

/* With the runtime's list of threads, shown after the program ended. */
static int run_and_list_threads(const char *path, char **argv)
{
    struct dh_err err = {0};
    char *folder = dh_temp_folder(&err);
    if (!folder)
        return dh_fail(&err, DH_EXIT_FAILURE);
    char *file = dh_format("%s/threads", folder);
    const char *old = getenv("DEADHEAT_OPTIONS");
    char *options = dh_format("%s%sthreads_file='%s'", old ? old : "", old && *old ? ":" : "", file);
    setenv("DEADHEAT_OPTIONS", options, 1);
    int status = 0;
    bool ok = dh_supervise(path, argv, &status, &err);
    if (ok && !dh_file_exists(file))
        dh_complain("run: the program left no list of threads: it was killed, or is not built with 'deadheat cc'");
    else if (ok)
        ok = dh_threads_print(file, stderr, &err);
    dh_remove_tree(folder);
    free(options);
    free(file);
    free(folder);
    if (ok)
        dh_end_like(status);
    return dh_fail(&err, DH_EXIT_FAILURE);
}

/* The variant answers with this path when the program asks where it is. */
static void name_original(const char *program, const char *variant)
{
    char *real = dh_path_real(program);
    if (strcmp(program, variant) != 0)
        setenv("DEADHEAT_PROGRAM", real ? real : program, 1);
    free(real);
}

static int become(const char *path, char **argv)
{
    execv(path, argv);
    dh_complain("cannot run %s: %s", path, strerror(errno));
    return DH_EXIT_FAILURE;
}

static bool is_elf(const char *path)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    bool elf = dh_file_read(path, &b, &ignored) && b.n > 4 && memcmp(b.at, "\177ELF", 4) == 0;
    if (!ignored.text)
        dh_bytes_release(&b);
    dh_err_release(&ignored);
    return elf;
}

static int start(const char *plan, bool threads, char **argv)
{
    int (*go)(const char *, char **) = threads ? run_and_list_threads : become;
    struct dh_err err = {0};
    struct dh_plan checked;
    if (!dh_plan_parse(plan, &checked, &err))
        return dh_fail(&err, DH_EXIT_USAGE);
    char *program = dh_program_find(argv[0]);
    if (!program) {
        dh_complain("run: %s: %s", argv[0], strchr(argv[0], '/') ? strerror(errno) : "not found on PATH");
        return DH_EXIT_USAGE;
    }
    if (!pass_on(plan, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    /* A script or libtool wrapper: what it starts finds its variant by itself. */
    if (!is_elf(program))
        return go(program, argv);
    char *variant = dh_derive(program, plan, &err);
    if (!variant || !lead_to_libraries(program, plan, &err))
        return dh_fail(&err, dh_container_present(program) ? DH_EXIT_FAILURE : DH_EXIT_USAGE);
    name_original(program, variant);
    return go(variant, argv);
}

static int run_run(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_OK;
    if (!done && n < 1) {
        dh_complain("run: name a program: deadheat run [OPTION...] -- PROG args");
        code = DH_EXIT_USAGE;
    } else if (!done)
        code = start(dh_option_get(p, "plan"), dh_option_given(p, "threads"), operands);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"detect", DH_OPTION_CHOICE, "none", "none", "detectors to run with; 'none' leaves every hook empty"},
    {"plan", DH_OPTION_STRING, "CLASS,...", "race",
     "which hooks the variant carries: race, lockset (placed late, after optimisation), view, consistency, atomrace, "
     "engine, heal (placed exactly, before it), stale (loads answer through the runtime), none"},
    {"threads", DH_OPTION_FLAG, NULL, NULL,
     "when the program has ended, list its threads on standard error: name, creator, state, and where it was created"},
    {0}};

const struct dh_command dh_command_run = {
    .name = "run",
    .usage = "[OPTION...] -- PROG [ARG...]",
    .summary = "run a program with chosen detectors",
    .description =
        "Derives the variant of the program that the options ask for from the module it carries, keeps it in the\n"
        "cache, and runs it. Output, exit code and signals are the program's own. PROG may be a script or a\n"
        "libtool wrapper: programs built with 'deadheat cc' that it starts run as that variant too.",
    .examples =
        "  deadheat run --detect=none -- ./server -p 8080\n  deadheat run --detect=none --plan=engine -- ./bank\n",
    .options = options,
    .run = run_run,
};

/* exec-variant --variant=NAME -- EXE ARGV0 ARGS...: called by the runtime at program start. */
int dh_main_exec_variant(int argc, char **argv)
{
    static const char prefix[] = "--variant=";
    if (argc < 5 || !dh_starts_with(argv[1], prefix) || strcmp(argv[2], "--") != 0) {
        dh_complain("exec-variant: for the runtime's use only");
        return DH_EXIT_USAGE;
    }
    struct dh_err err = {0};
    const char *plan = argv[1] + strlen(prefix);
    char *variant = dh_derive(argv[3], plan, &err);
    if (!variant || !lead_to_libraries(argv[3], plan, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    name_original(argv[3], variant);
    return become(variant, argv + 4);
}
