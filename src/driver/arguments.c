#include "driver/arguments.h"

#include "base/str.h"
#include "driver/plan_name.h"

#include <stdlib.h>
#include <string.h>

/* Options whose value is the next word. */
static const char *const takes_word[] = {"-o",
                                         "-x",
                                         "-I",
                                         "-L",
                                         "-D",
                                         "-U",
                                         "-T",
                                         "-u",
                                         "-e",
                                         "-z",
                                         "-l",
                                         "-B",
                                         "-F",
                                         "-A",
                                         "-G",
                                         "-include",
                                         "-imacros",
                                         "-isystem",
                                         "-iquote",
                                         "-idirafter",
                                         "-iprefix",
                                         "-iwithprefix",
                                         "-iwithprefixbefore",
                                         "-isysroot",
                                         "-cxx-isystem",
                                         "-stdlib++-isystem",
                                         "-c-isystem",
                                         "-MF",
                                         "-MT",
                                         "-MQ",
                                         "-MJ",
                                         "-Xclang",
                                         "-Xlinker",
                                         "-Xassembler",
                                         "-Xpreprocessor",
                                         "-mllvm",
                                         "-arch",
                                         "-target",
                                         "-rpath",
                                         "-framework",
                                         "--param",
                                         "-working-directory",
                                         "-resource-dir",
                                         "-dumpdir",
                                         "-include-pch",
                                         "-serialize-diagnostics",
                                         "--serialize-diagnostics",
                                         "-main-file-name",
                                         "--sysroot",
                                         "-gcc-toolchain",
                                         "-ivfsoverlay",
                                         "-fmodules-user-build-path",
                                         "-mthread-model",
                                         "-index-store-path",
                                         "-undefined",
                                         "-weak_library",
                                         "-install_name",
                                         "-exported_symbols_list",
                                         "-aux-info",
                                         NULL};

/* Options of gcc that clang rejects and that do not change semantics. A '*' at the end matches any rest. */
static const char *const gcc_only[] = {"-fconserve-stack",
                                       "-fno-conserve-stack",
                                       "-fno-guess-branch-probability",
                                       "-ftree-loop-distribution",
                                       "-fno-tree-loop-distribution",
                                       "-fno-tree-loop-distribute-patterns",
                                       "-ftree-loop-distribute-patterns",
                                       "-ftree-loop-im",
                                       "-ftree-loop-ivcanon",
                                       "-fno-var-tracking-assignments",
                                       "-fvar-tracking*",
                                       "-fno-var-tracking",
                                       "-fno-reorder-functions",
                                       "-fno-reorder-blocks*",
                                       "-freorder-blocks*",
                                       "-fno-aggressive-loop-optimizations",
                                       "-mindirect-branch=*",
                                       "-mindirect-branch-register",
                                       "-fvect-cost-model*",
                                       "-fno-vect-cost-model",
                                       "-fsimd-cost-model*",
                                       "-fdump-tree*",
                                       "-fdump-ipa*",
                                       "-fdump-rtl*",
                                       "-fipa-*",
                                       "-fno-ipa-*",
                                       "-fprefetch-loop-arrays",
                                       "-fno-toplevel-reorder",
                                       "-ftoplevel-reorder",
                                       "-fsched-*",
                                       "-fno-sched-*",
                                       "-fno-shrink-wrap",
                                       "-fno-gcse*",
                                       "-fgcse*",
                                       "-fno-ivopts",
                                       "-fno-web",
                                       "-frename-registers",
                                       "-fmodulo-sched*",
                                       "-floop-*",
                                       "-fgraphite*",
                                       "-fno-cse-follow-jumps",
                                       "-fno-allow-store-data-races",
                                       "-fwhole-program",
                                       "-fuse-linker-plugin",
                                       "-fno-use-linker-plugin",
                                       "-fira-*",
                                       "-fno-ira-*",
                                       NULL};

/* Our link step is the link-time optimiser, and -fuse-ld would bypass it. Findings need full debug information; an
 * option for less would override our -g. */
static const char *const dropped[] = {"-g0",
                                      "-g1",
                                      "-ggdb0",
                                      "-ggdb1",
                                      "-gline-*",
                                      "-gmlt",
                                      "-flto",
                                      "-flto=*",
                                      "-ffat-lto-objects",
                                      "-fno-fat-lto-objects",
                                      "-fuse-ld=*",
                                      "-flto-*",
                                      "-fthinlto-*",
                                      "-fsplit-lto-unit",
                                      "-fembed-bitcode*",
                                      NULL};

static const struct {
    const char *option, *why;
} refused[] = {
    {"-fprofile-generate*", "profiling passes do not run on the merged program; leave it out of a checked build"},
    {"-fcs-profile-generate*", "profiling passes do not run on the merged program; leave it out of a checked build"},
};

static const struct {
    const char *name, *why;
} refused_sanitizers[] = {
    {"thread", "deadheat checks threads itself and both cannot live in one program; leave it out"},
    {"memory", "its runtime cannot share a process with deadheat's; leave it out"},
    {"hwaddress", "its runtime cannot share a process with deadheat's; leave it out"},
    {"dataflow", "its runtime cannot share a process with deadheat's; leave it out"},
    {"fuzzer", "coverage passes do not run on the merged program; leave it out of a checked build"},
    {"fuzzer-no-link", "coverage passes do not run on the merged program; leave it out of a checked build"},
};

static bool matches(const char *word, const char *pattern)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return strncmp(word, pattern, n - 1) == 0;
    return strcmp(word, pattern) == 0;
}

static bool listed(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (matches(word, *list))
            return true;
    return false;
}

bool dh_cc_is_configure_check(const char *path)
{
    const char *base = dh_basename(path);
    return dh_starts_with(base, "conftest") || dh_starts_with(base, "cmTC_") || strstr(path, "CMakeScratch/") ||
           strstr(path, "CMakeTmp/") || strstr(path, "CMakeFiles/CMakeTmp") || strstr(path, "meson-private/") ||
           strcmp(path, "/dev/null") == 0 || dh_starts_with(base, "CMakeCCompilerId") ||
           dh_starts_with(base, "CMakeCXXCompilerId") || dh_starts_with(base, "testCCompiler") ||
           dh_starts_with(base, "testCXXCompiler");
}

static bool refuse_sanitizer(const char *list, struct dh_err *err)
{
    for (size_t i = 0; i < sizeof refused_sanitizers / sizeof *refused_sanitizers; i++) {
        size_t n = strlen(refused_sanitizers[i].name);
        for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            if (strncmp(at, refused_sanitizers[i].name, n) == 0 && (at[n] == ',' || at[n] == 0))
                return dh_err_set(err, "-fsanitize=%s: %s", refused_sanitizers[i].name, refused_sanitizers[i].why);
    }
    return true;
}

static bool refuse(const char *word, struct dh_err *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (matches(word, refused[i].option))
            return dh_err_set(err, "%s: %s", word, refused[i].why);
    if (dh_starts_with(word, "-fsanitize="))
        return refuse_sanitizer(word + strlen("-fsanitize="), err);
    return true;
}

static bool set_plan(struct dh_cc_args *a, const char *degree, const char *word, struct dh_err *err)
{
    struct dh_plan checked = {0};
    bool parsed = *degree && !dh_plan_names_classes(degree) && dh_plan_parse(degree, &checked, err);
    if (!parsed || checked.tally) /* counting variants are derived only */
        return dh_err_set(
            err, "%s: expected all, conflict-self, conflict or optimized, and perhaps ',no-arrays' or ',no-copies'",
            word);
    free(a->plan);
    a->plan = dh_strdup(degree);
    return true;
}

static bool own_option(struct dh_cc_args *a, const char *word, struct dh_err *err)
{
    if (strcmp(word, "-fdeadheat-no-embed") == 0) {
        a->no_embed = true;
        return true;
    }
    if (strcmp(word, "-fdeadheat-like-tsan") == 0) {
        a->like_tsan = true;
        return true;
    }
    if (strcmp(word, "-fno-deadheat-sparse") == 0)
        return set_plan(a, "all", word, err);
    if (strcmp(word, "-fdeadheat-sparse") == 0)
        return set_plan(a, "optimized", word, err);
    static const char plan[] = "-fdeadheat-plan=";
    if (dh_starts_with(word, plan))
        return set_plan(a, word + strlen(plan), word, err);
    static const char heal[] = "-fdeadheat-heal=";
    if (dh_starts_with(word, heal) && word[strlen(heal)]) {
        free(a->heal);
        a->heal = dh_strdup(word + strlen(heal));
        return true;
    }
#define NAME(option, help) " " option
    return dh_err_set(err, "unknown option %s; there are:" DH_CC_OWN_OPTIONS(NAME), word);
#undef NAME
}

/* What an input becomes: only C-family sources and IR carry bitcode; assembly does not. */
static bool is_source(const char *path, const char *language)
{
    static const char *const endings[] = {".c", ".i",  ".cc", ".cp", ".cpp", ".cxx", ".CPP",  ".c++",
                                          ".C", ".ii", ".m",  ".mm", ".ll",  ".bc",  ".cppm", NULL};
    static const char *const languages[] = {
        "c", "c++", "cpp-output", "c++-cpp-output", "objective-c", "objective-c++", "ir", "c++-module", NULL};
    if (language && strcmp(language, "none") != 0)
        return listed(language, languages);
    if (strcmp(path, "-") == 0)
        return false;
    for (const char *const *e = endings; *e; e++)
        if (dh_ends_with(path, *e))
            return true;
    return false;
}

static void note_level(struct dh_cc_args *a, const char *word)
{
    if (strcmp(word, "-Ofast") == 0 || strcmp(word, "-O4") == 0)
        a->level = '3';
    else if (strcmp(word, "-Og") == 0 || strcmp(word, "-O") == 0)
        a->level = '1';
    else if (word[2] && !word[3])
        a->level = word[2] > '3' && word[2] <= '9' ? '3' : word[2];
}

static void note_debug(struct dh_cc_args *a, const char *word)
{
    static const char *const full[] = {"-g", "-g2", "-g3", "-ggdb", "-ggdb2", "-ggdb3", "-gdwarf*", "-glldb", NULL};
    a->debug = a->debug || listed(word, full);
}

static const char *const links_statically[] = {"-static", "-static-pie", "--static", NULL};

/* Words after which clang neither compiles to an object nor links. */
static bool stops_early(const char *word)
{
    static const char *const words[] = {"-E",
                                        "-S",
                                        "-M",
                                        "-MM",
                                        "-fsyntax-only",
                                        "-###",
                                        "--help",
                                        "-help",
                                        "--version",
                                        "-print-*",
                                        "--print-*",
                                        "-dumpversion",
                                        "-dumpmachine",
                                        "-dumpspecs",
                                        "-emit-llvm",
                                        "--analyze",
                                        "-emit-ast",
                                        "--precompile",
                                        "-emit-module",
                                        "-rewrite-objc",
                                        "--target-help",
                                        "-verify-pch",
                                        "--autocomplete=*",
                                        NULL};
    return listed(word, words);
}

static void add_two(struct dh_cc_args *a, const char *word, const char *value)
{
    dh_argv_add(&a->words, word);
    if (value)
        dh_argv_add(&a->words, value);
}

struct reading {
    const char *language;
    bool early, compile;
};

static void note_option(struct dh_cc_args *a, struct reading *r, const char *word, const char *value)
{
    if (strcmp(word, "-o") == 0 && value)
        a->output = value;
    else if (dh_starts_with(word, "-o") && !value)
        a->output = word + 2;
    else if (strcmp(word, "-x") == 0)
        r->language = value;
    else if (dh_starts_with(word, "-x") && !value)
        r->language = word + 2;
    else if (strcmp(word, "-c") == 0)
        r->compile = true;
    else if (dh_starts_with(word, "-O"))
        note_level(a, word);
    else if (dh_starts_with(word, "-g"))
        note_debug(a, word);
    for (const char *const *s = links_statically; *s; s++)
        if (strcmp(word, *s) == 0)
            a->static_link = *s;
    r->early = r->early || stops_early(word);
}

/* Precompiling a header ends neither in an object nor in a link. */
static bool is_header(const char *path, const char *language)
{
    static const char *const endings[] = {".h", ".hh", ".hp", ".hpp", ".hxx", ".H", ".tcc", ".hpp11", NULL};
    if (language && strcmp(language, "none") != 0)
        return dh_ends_with(language, "-header");
    for (const char *const *e = endings; *e; e++)
        if (dh_ends_with(path, *e))
            return true;
    return false;
}

static void note_input(struct dh_cc_args *a, struct reading *r, const char *word)
{
    a->n_inputs++;
    r->early = r->early || is_header(word, r->language);
    a->probe = a->probe || dh_cc_is_configure_check(word) || strcmp(word, "-") == 0;
    if (is_source(word, r->language))
        dh_argv_add(&a->sources, word);
}

static bool read_words(struct dh_cc_args *a, const struct dh_argv *in, struct reading *r, struct dh_err *err)
{
    bool options_end = false;
    for (int i = 0; i < in->n; i++) {
        const char *word = in->at[i];
        if (!options_end && (dh_starts_with(word, "-fdeadheat") || dh_starts_with(word, "-fno-deadheat"))) {
            if (!own_option(a, word, err))
                return false;
            continue;
        }
        if (!options_end && listed(word, dropped))
            continue;
        if (!options_end && !refuse(word, err))
            return false;
        const char *value = NULL;
        if (!options_end && listed(word, takes_word) && i + 1 < in->n)
            value = in->at[++i];
        if (options_end || word[0] != '-' || !word[1])
            note_input(a, r, word);
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else
            note_option(a, r, word, value);
        add_two(a, word, value);
    }
    return true;
}

static void drop_gcc_only(struct dh_cc_args *a)
{
    int kept = 0;
    for (int i = 0; i < a->words.n; i++)
        if (listed(a->words.at[i], gcc_only))
            free(a->words.at[i]);
        else
            a->words.at[kept++] = a->words.at[i];
    a->words.n = kept;
    if (a->words.at)
        a->words.at[kept] = NULL;
}

bool dh_cc_args_read(struct dh_cc_args *a, int argc, char **argv, struct dh_err *err)
{
    struct dh_argv in = {0};
    struct reading r = {0};
    *a = (struct dh_cc_args){.level = '0'};
    bool ok = dh_response_expand(argc, argv, &in, err) && read_words(a, &in, &r, err);
    if (ok) {
        a->output = a->output ? dh_strdup(a->output) : NULL;
        a->probe = a->probe || (a->output && dh_cc_is_configure_check(a->output));
        a->step = r.early || !a->n_inputs ? DH_CC_OTHER : r.compile ? DH_CC_COMPILE : DH_CC_LINK;
        /* A configure check for a flag needs clang's own answer. */
        if (!a->probe)
            drop_gcc_only(a);
    }
    dh_argv_release(&in);
    return ok;
}

void dh_cc_args_release(struct dh_cc_args *a)
{
    dh_argv_release(&a->words);
    dh_argv_release(&a->sources);
    free((char *)a->output);
    free(a->heal);
    free(a->plan);
    *a = (struct dh_cc_args){0};
}
