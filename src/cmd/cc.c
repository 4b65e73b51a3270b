/* deadheat cc, deadheat c++: drop-in compilers. */
#include "cmd/command.h"
#include "driver/arguments.h"
#include "driver/compile.h"

static int run_compiler(int argc, char **argv, bool cxx)
{
    struct dh_err err = {0};
    struct dh_cc_args a;
    if (!dh_cc_args_read(&a, argc - 1, argv + 1, &err)) {
        dh_cc_args_release(&a);
        return dh_fail(&err, DH_EXIT_USAGE);
    }
    a.cxx = cxx;
    int code = dh_compile(&a, &err);
    bool refused = a.static_link && !a.probe && a.step == DH_CC_LINK;
    dh_cc_args_release(&a);
    return code < 0 ? dh_fail(&err, refused ? DH_EXIT_USAGE : DH_EXIT_FAILURE) : code;
}

static int run_cc(const struct dh_command *self, int argc, char **argv)
{
    (void)self;
    return run_compiler(argc, argv, false);
}

static int run_cxx(const struct dh_command *self, int argc, char **argv)
{
    (void)self;
    return run_compiler(argc, argv, true);
}

#define ROW(name, help) {name, DH_OPTION_FLAG, NULL, NULL, help},
static const struct dh_option options[] = {DH_CC_OWN_OPTIONS(ROW){0}};

#define DESCRIPTION                                                                                                    \
    "Compiles and links as clang does; all of clang's options are understood. Objects carry their bitcode beside\n"    \
    "native code, so configure, libtool, ar, nm and ld -r see ordinary objects. The link step merges the bitcode of\n" \
    "what is linked, numbers every access as a site, puts the checks in and embeds the merged module, from which\n"    \
    "every later command derives what it needs.\n\n"                                                                   \
    "Debug information (-g) is added. -flto is dropped: the link step sees the whole program anyway. Options that\n"   \
    "only gcc knows are left out. -fsanitize=thread and -fprofile-generate are refused; address and\n"                 \
    "undefined work beside deadheat. -static is refused. Programs that configure, cmake or meson build as probes "     \
    "are\n"                                                                                                            \
    "linked natively, so that their answers are clang's.\n\n"                                                          \
    "DEADHEAT_CLANG, DEADHEAT_CLANGXX and DEADHEAT_LLD name other tools than clang-19, clang++-19 and ld.lld-19."

const struct dh_command dh_command_cc = {
    .name = "cc",
    .usage = "CLANG-ARGUMENT...",
    .summary = "compile and link C, as clang does",
    .description = DESCRIPTION,
    .examples =
        "  CC=\"deadheat cc\" CXX=\"deadheat c++\" ./configure && make\n  deadheat cc -O2 -pthread bank.c -o bank\n",
    .options = options,
    .run = run_cc,
};

const struct dh_command dh_command_cxx = {
    .name = "c++",
    .usage = "CLANG-ARGUMENT...",
    .summary = "compile and link C++, as clang++ does",
    .description = DESCRIPTION,
    .examples = "  deadheat c++ -std=c++20 -O2 -pthread queue.cc -o queue\n",
    .options = options,
    .run = run_cxx,
};
