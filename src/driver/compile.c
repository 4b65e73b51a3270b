#include "driver/compile.h"

#include "base/str.h"
#include "driver/link.h"
#include "driver/object_bitcode.h"
#include "driver/source_name.h"
#include "host/file.h"
#include "host/resources.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bitcode before optimisation beside native code, in one clang run. "bitcode" rather than "all": no .llvmcmd, whose
 * command line would carry the builder's paths. */
static void add_embedding(const struct dh_cc_args *a, struct dh_argv *out)
{
    if (!a->sources.n)
        return;
    dh_argv_add(out, "-Xclang");
    dh_argv_add(out, "-fembed-bitcode=bitcode");
    if (a->level == '0') {
        dh_argv_add(out, "-Xclang");
        dh_argv_add(out, "-disable-O0-optnone");
    }
    if (!a->debug)
        dh_argv_add(out, "-g");
}

/* Attributes that clang does not keep in bitcode are repeated as one that it keeps (ir/annotations.h). Function-like
 * macros are harmless: only a use of the attribute has an argument list. `no_sanitize` is replaced, since it may be
 * used in [[clang::...]]; with another sanitizer it stays. `no_sanitize_thread` may be used in [[gnu::...]] and in
 * __has_attribute, so one gcc attribute must replace it: one that is kept and has no effect without profiling. */
static const char *const attributes[] = {
    "-Dguarded_by(...)=guarded_by(__VA_ARGS__), annotate(\"deadheat.guarded_by:\" #__VA_ARGS__)",
    "-Dpt_guarded_by(...)=pt_guarded_by(__VA_ARGS__), annotate(\"deadheat.pt_guarded_by:\" #__VA_ARGS__)",
#define REQUIRES(name) "-D" name "(...)=" name "(__VA_ARGS__), annotate(\"deadheat.requires:\" #__VA_ARGS__)"
    REQUIRES("requires_capability"),
    REQUIRES("requires_shared_capability"),
    REQUIRES("exclusive_locks_required"),
    REQUIRES("shared_locks_required"),
};
static const char *const no_sanitize[] = {
    "-Dno_sanitize(...)=annotate(\"deadheat.no_sanitize\", __VA_ARGS__)",
    "-D__no_sanitize__(...)=annotate(\"deadheat.no_sanitize\", __VA_ARGS__)",
};
static const char *const no_sanitize_thread[][2] = {
    {"-Dno_sanitize_thread=no_profile_instrument_function", "-D__no_sanitize_thread__=no_profile_instrument_function"},
    {"-Dno_sanitize_thread=disable_sanitizer_instrumentation",
     "-D__no_sanitize_thread__=disable_sanitizer_instrumentation"},
};

/* Once __has_feature is redefined, clang's own cannot be called, but __has_extension includes features. */
static const char *const like_tsan[] = {
    "-D__SANITIZE_THREAD__=1",
    "-D__deadheat_claims_thread_sanitizer=1",
    "-D__has_feature(x)=(__has_extension(x) || __deadheat_claims_##x)",
    "-Wno-builtin-macro-redefined",
};

static bool has_word(const struct dh_cc_args *a, const char *prefix)
{
    for (int i = 0; i < a->words.n; i++)
        if (dh_starts_with(a->words.at[i], prefix))
            return true;
    return false;
}

static void add_no_sanitize(const struct dh_cc_args *a, struct dh_argv *out)
{
    bool profiles = has_word(a, "-fprofile") || has_word(a, "--coverage") || has_word(a, "-coverage") ||
                    has_word(a, "-fcoverage") || has_word(a, "-fcs-profile") || has_word(a, "-ftest-coverage");
    if (has_word(a, "-fsanitize"))
        return;
    for (size_t i = 0; i < sizeof no_sanitize / sizeof *no_sanitize; i++)
        dh_argv_add(out, no_sanitize[i]);
    for (size_t i = 0; i < 2; i++)
        dh_argv_add(out, no_sanitize_thread[profiles][i]);
}

static void add_includes(struct dh_argv *out)
{
    struct dh_err ignored = {0};
    char *header = dh_resource_find("../../include/deadheat/annotate.h", &ignored);
    char *folder = header ? dh_format("%.*s", (int)(strlen(header) - strlen("/deadheat/annotate.h")), header) : NULL;
    char *real = folder ? dh_path_real(folder) : NULL;
    if (real) {
        dh_argv_add(out, "-idirafter");
        dh_argv_add(out, real);
    }
    free(header);
    free(folder);
    free(real);
    dh_err_release(&ignored);
}

/* Also where clang only preprocesses: what comes out of that may be compiled later. */
static void add_annotations(const struct dh_cc_args *a, struct dh_argv *out)
{
    if (!a->sources.n)
        return;
    dh_argv_add(out, "-D__DEADHEAT__=1");
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        dh_argv_add(out, attributes[i]);
    add_no_sanitize(a, out);
    for (size_t i = 0; a->like_tsan && i < sizeof like_tsan / sizeof *like_tsan; i++)
        dh_argv_add(out, like_tsan[i]);
    add_includes(out);
}

static bool add_linking(const struct dh_cc_args *a, struct dh_argv *out, struct dh_err *err)
{
    char *linker = dh_resource_find("deadheat-ld", err);
    if (!linker)
        return false;
    dh_argv_addf(out, "--ld-path=%s", linker);
    free(linker);
    /* By environment: clang would take words for the linker as inputs of the link. */
    char level[2] = {a->level, 0};
    setenv(DH_LD_LEVEL, level, 1);
    if (a->no_embed)
        setenv(DH_LD_NO_EMBED, "1", 1);
    else
        unsetenv(DH_LD_NO_EMBED);
    if (a->plan)
        setenv(DH_LD_PLAN, a->plan, 1);
    else
        unsetenv(DH_LD_PLAN);
    if (a->heal)
        setenv(DH_LD_HEAL, a->heal, 1);
    else
        unsetenv(DH_LD_HEAL);
    return true;
}

/* Long command lines go through a response file, as the kernel limits arguments. */
static bool shorten(struct dh_argv *a, char **file, struct dh_err *err)
{
    size_t n = 0;
    for (int i = 0; i < a->n; i++)
        n += strlen(a->at[i]) + 1;
    *file = NULL;
    if (n < 100000)
        return true;
    struct dh_str text = {0};
    for (int i = 1; i < a->n; i++) {
        dh_str_add(&text, "\"");
        for (const char *c = a->at[i]; *c; c++)
            dh_str_addf(&text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        dh_str_add(&text, "\"\n");
    }
    const char *base = getenv("TMPDIR");
    *file = dh_format("%s/deadheat-args-%d", base && *base ? base : "/tmp", (int)getpid());
    bool ok = dh_file_write(*file, text.at, text.n, 0600, err);
    dh_str_release(&text);
    struct dh_argv less = {0};
    dh_argv_add(&less, a->at[0]);
    dh_argv_addf(&less, "@%s", *file);
    dh_argv_release(a);
    *a = less;
    return ok;
}

static bool mark_one(const struct dh_cc_args *a, const char *source, const char *object, struct dh_err *err)
{
    if (!dh_file_is_regular(object))
        return true;
    char *mapped = dh_prefix_map_path(&a->words, source);
    bool ok = dh_object_rename_bitcode(object, a->level, err) &&
              (!mapped || dh_object_rename_source(object, mapped, err)) && dh_object_hash_bitcode(object, err);
    free(mapped);
    return ok;
}

static bool mark_objects(const struct dh_cc_args *a, struct dh_err *err)
{
    bool ok = true;
    for (int i = 0; ok && i < a->sources.n; i++) {
        const char *base = dh_basename(a->sources.at[i]);
        const char *dot = strrchr(base, '.');
        char *object =
            a->output ? dh_strdup(a->output) : dh_format("%.*s.o", (int)(dot ? dot - base : (long)strlen(base)), base);
        ok = mark_one(a, a->sources.at[i], object, err);
        free(object);
    }
    return ok;
}

static bool command_line(const struct dh_cc_args *a, struct dh_argv *out, struct dh_err *err)
{
    char *clang = a->cxx ? dh_tool_clangxx(err) : dh_tool_clang(err);
    if (!clang)
        return false;
    dh_argv_add(out, clang);
    free(clang);
    /* Ours come first: what the user says later wins, and "--" or a trailing -x cannot swallow them. */
    add_annotations(a, out);
    if (a->step != DH_CC_OTHER)
        add_embedding(a, out);
    if (a->step == DH_CC_LINK && !add_linking(a, out, err))
        return false;
    dh_argv_add_all(out, a->words.at, a->words.n);
    return true;
}

int dh_compile(struct dh_cc_args *a, struct dh_err *err)
{
    struct dh_argv line = {0};
    char *file = NULL;
    int status = 0, code = -1;
    if (a->step == DH_CC_LINK && a->static_link && !a->probe)
        dh_err_set(err, "%s: a statically linked program cannot be intercepted; link it dynamically", a->static_link);
    else if (command_line(a, &line, err) && shorten(&line, &file, err) && dh_process_run(&line, NULL, &status, err)) {
        code = dh_status_code(status);
        if (code == 0 && a->step == DH_CC_COMPILE && !mark_objects(a, err))
            code = -1;
    }
    if (file)
        unlink(file);
    free(file);
    dh_argv_release(&line);
    return code;
}
