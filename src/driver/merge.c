#include "driver/merge.h"

#include "base/str.h"
#include "driver/passes.h"
#include "driver/used_symbols.h"
#include "image/elf_image.h"
#include "ir/annotations.h"
#include "ir/name_hints.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    LLVMModuleRef module;
    char level;
    const char *name;
};

struct merging {
    struct dh_merged *out;
    const struct dh_link_line *line;
    DH_VEC(struct unit) units;
    const struct dh_link_input *input;
};

static char *diagnostic; /* first error of the context at work */

static void note_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    (void)arg;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || diagnostic)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    diagnostic = dh_strdup(text);
    LLVMDisposeMessage(text);
}

LLVMContextRef dh_context_new(void)
{
    LLVMContextRef c = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(c, note_diagnostic, NULL);
    return c;
}

static bool llvm_error(struct dh_err *err, const char *what, const char *name)
{
    dh_err_set(err, "%s: %s: %s", name, what, diagnostic ? diagnostic : "LLVM gave no reason");
    free(diagnostic);
    diagnostic = NULL;
    return false;
}

LLVMModuleRef dh_parse_bitcode(LLVMContextRef context, const char *name, const void *bytes, size_t n,
                               struct dh_err *err)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, n, name);
    LLVMModuleRef m = NULL;
    if (LLVMParseBitcodeInContext2(context, buffer, &m))
        llvm_error(err, "its bitcode cannot be read", name);
    LLVMDisposeMemoryBuffer(buffer);
    return m;
}

static bool parse_stream(void *arg, const uint8_t *bytes, size_t n, char level, struct dh_err *err)
{
    struct merging *g = arg;
    struct unit u = {.module = dh_parse_bitcode(g->out->context, g->input->name, bytes, n, err),
                     .level = level,
                     .name = g->input->name};
    if (!u.module)
        return false;
    LLVMSetIsNewDbgInfoFormat(u.module, 0);
    dh_vec_push(&g->units, u);
    return true;
}

static void note_names(LLVMModuleRef m, struct dh_names *names)
{
    size_t n;
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
        dh_names_add(names, LLVMGetValueName2(v, &n));
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        dh_names_add(names, LLVMGetValueName2(v, &n));
    for (LLVMValueRef v = LLVMGetFirstGlobalAlias(m); v; v = LLVMGetNextGlobalAlias(v))
        dh_names_add(names, LLVMGetValueName2(v, &n));
    for (LLVMValueRef v = LLVMGetFirstGlobalIFunc(m); v; v = LLVMGetNextGlobalIFunc(v))
        dh_names_add(names, LLVMGetValueName2(v, &n));
}

struct foreign {
    const struct dh_names *known;
    bool found;
};

static void notice_foreign(void *arg, const struct dh_elf_symbol *s)
{
    /* Code generation and sanitizers add these, and will again. */
    static const char *const made[] = {"DW.ref.", "__asan_",   "___asan_", "__odr_asan",
                                       "asan.",   "__emutls_", "__ubsan_"};
    struct foreign *f = arg;
    if (!s->defined || !s->global || strchr(s->name, '@') || s->type == STT_SECTION || s->type == STT_FILE)
        return;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (dh_starts_with(s->name, made[i]))
            return;
    f->found = f->found || !dh_names_has(f->known, s->name);
}

/* ld -r may have put assembly and bitcode into one object: it defines symbols that its bitcode does not. */
static bool is_mixed(const struct dh_link_input *in, const struct merging *g, size_t first)
{
    struct dh_names known = {0};
    for (size_t i = first; i < g->units.n; i++) {
        note_names(g->units.at[i].module, &known);
        dh_collect_assembly_symbols(g->units.at[i].module, &known);
    }
    struct foreign f = {.known = &known};
    struct dh_elf e;
    struct dh_err ignored = {0};
    if (dh_elf_open(&e, in->name, in->bytes.at, in->bytes.n, &ignored)) {
        dh_elf_each_symbol(&e, false, notice_foreign, &f);
        dh_elf_release(&e);
    }
    dh_err_release(&ignored);
    dh_names_release(&known);
    return f.found;
}

static void note_defined(void *arg, const struct dh_elf_symbol *s)
{
    if (s->defined)
        dh_names_add(arg, s->name);
}

/* As the debug information has it, where prefix maps are applied. */
static void add_unit_name(LLVMModuleRef m, struct dh_str *units)
{
    LLVMValueRef unit = NULL;
    unsigned n_file = 0;
    if (LLVMGetNamedMetadataNumOperands(m, "llvm.dbg.cu") == 1)
        LLVMGetNamedMetadataOperands(m, "llvm.dbg.cu", &unit);
    LLVMMetadataRef file = unit ? LLVMDIScopeGetFile(LLVMValueAsMetadata(unit)) : NULL;
    const char *name = file ? LLVMDIFileGetFilename(file, &n_file) : NULL;
    size_t n_source;
    const char *source = LLVMGetSourceFileName(m, &n_source);
    dh_str_addf(units, "merged %.*s\n", name ? (int)n_file : (int)n_source, name ? name : source);
}

/* Per unit, while it is still as the compiler made it. */
static void prepare_input(struct merging *g, const struct dh_link_input *in, size_t first)
{
    struct dh_names defined = {0};
    struct dh_elf e;
    struct dh_err ignored = {0};
    if (dh_elf_open(&e, in->name, in->bytes.at, in->bytes.n, &ignored)) {
        dh_elf_each_symbol(&e, false, note_defined, &defined);
        dh_elf_release(&e);
    }
    for (size_t i = first; i < g->units.n; i++) {
        dh_mark_used_symbols(g->units.at[i].module, &defined);
        dh_ir_read_annotations(g->units.at[i].module);
        dh_ir_add_name_hints(g->units.at[i].module);
        dh_ir_inline_atomics(g->units.at[i].module);
        add_unit_name(g->units.at[i].module, &g->out->units);
    }
    dh_names_release(&defined);
    dh_err_release(&ignored);
}

static bool parse_input(struct merging *g, struct dh_link_input *in, struct dh_err *err)
{
    size_t first = g->units.n;
    g->input = in;
    if (!in->level) {
        if (!in->system)
            dh_str_addf(&g->out->units, "native %s\n", in->name);
        return true;
    }
    if (!dh_link_input_each_bitcode(in, g->line->level, parse_stream, g, err))
        return false;
    if (is_mixed(in, g, first)) {
        while (g->units.n > first)
            LLVMDisposeModule(g->units.at[--g->units.n].module);
        in->level = 0;
        dh_str_addf(&g->out->units, "mixed %s\n", in->name);
        return true;
    }
    prepare_input(g, in, first);
    return true;
}

/* --wrap acts on names between objects. Where NAME is defined in bitcode there is nothing left to act on once merged,
 * so it is done on each module: a reference to NAME becomes __wrap_NAME, one to __real_NAME becomes NAME. The linker
 * still does it for native objects and for names defined elsewhere. */
static void rename_wrapped(LLVMModuleRef m, const char *name)
{
    char *wrap = dh_format("__wrap_%s", name), *real = dh_format("__real_%s", name);
    LLVMValueRef plain = LLVMGetNamedFunction(m, name), resolved = LLVMGetNamedFunction(m, real);
    if (plain && LLVMIsDeclaration(plain)) {
        LLVMValueRef there = LLVMGetNamedFunction(m, wrap);
        if (there)
            LLVMReplaceAllUsesWith(plain, there);
        else
            LLVMSetValueName2(plain, wrap, strlen(wrap));
    }
    if (resolved && LLVMIsDeclaration(resolved)) {
        LLVMValueRef there = LLVMGetNamedFunction(m, name);
        if (there)
            LLVMReplaceAllUsesWith(resolved, there);
        else
            LLVMSetValueName2(resolved, name, strlen(name));
    }
    free(wrap);
    free(real);
}

/* Functions of a unit compiled with -O0 stay unoptimised beside others that are. */
static void keep_unoptimised(LLVMModuleRef m)
{
    static const char *const names[] = {"noinline", "optnone"};
    LLVMContextRef c = LLVMGetModuleContext(m);
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) ||
            LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, always))
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            LLVMAddAttributeAtIndex(
                f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                LLVMCreateEnumAttribute(c, LLVMGetEnumAttributeKindForName(names[i], strlen(names[i])), 0));
    }
}

static int level_rank(char level)
{
    static const char order[] = "01zs23";
    const char *at = strchr(order, level);
    return at ? (int)(at - order) : 4;
}

static bool is_defined(const struct merging *g, const char *name)
{
    for (size_t i = 0; i < g->units.n; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(g->units.at[i].module, name);
        if (f && !LLVMIsDeclaration(f))
            return true;
    }
    return false;
}

static void prepare_units(struct merging *g)
{
    for (size_t i = 0; i < g->units.n; i++)
        if (level_rank(g->units.at[i].level) > level_rank(g->out->level))
            g->out->level = g->units.at[i].level;
    for (int w = 0; w < g->line->wrapped.n; w++)
        if (is_defined(g, g->line->wrapped.at[w]))
            for (size_t i = 0; i < g->units.n; i++)
                rename_wrapped(g->units.at[i].module, g->line->wrapped.at[w]);
    for (size_t i = 0; i < g->units.n; i++) {
        if (g->units.at[i].level == '0' && g->out->level != '0')
            keep_unoptimised(g->units.at[i].module);
    }
}

/* Pairwise, as a tree: one after the other costs four times as much on large programs. */
static bool link_units(struct merging *g, struct dh_err *err)
{
    for (size_t n = g->units.n; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++) {
            struct unit *to = &g->units.at[2 * i], *from = &g->units.at[2 * i + 1];
            bool failed = LLVMLinkModules2(to->module, from->module);
            from->module = NULL;
            if (failed)
                return llvm_error(err, "cannot be merged with the rest", from->name);
            g->units.at[i] = *to;
        }
        if (n & 1)
            g->units.at[n / 2] = g->units.at[n - 1];
    }
    g->out->module = g->units.at[0].module;
    return true;
}

/* lld would redirect the program's own references to a wrapped definition once more: they get a name of their own, and
 * the old one stays for native objects. */
static void separate_wrapped(LLVMModuleRef m, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (!f || LLVMIsDeclaration(f))
        return;
    char *own = dh_format("%s.dh_real", name);
    LLVMSetValueName2(f, own, strlen(own));
    LLVMValueRef alias = LLVMAddAlias2(m, LLVMGlobalGetValueType(f), 0, f, name);
    LLVMSetVisibility(alias, LLVMGetVisibility(f));
    free(own);
}

bool dh_merge(struct dh_merged *m, struct dh_link_inputs *in, const struct dh_link_line *line, struct dh_err *err)
{
    *m = (struct dh_merged){.context = dh_context_new(), .level = '0'};
    struct merging g = {.out = m, .line = line};
    bool ok = true;
    for (size_t i = 0; ok && i < in->objects.n; i++)
        ok = parse_input(&g, &in->objects.at[i], err);
    m->n_merged = g.units.n;
    if (ok && g.units.n) {
        prepare_units(&g);
        ok = link_units(&g, err);
        const char *name = dh_basename(line->output);
        if (ok) /* not that of whichever unit came first */
            LLVMSetSourceFileName(m->module, name, strlen(name));
        for (int w = 0; ok && w < line->wrapped.n; w++)
            separate_wrapped(m->module, line->wrapped.at[w]);
    }
    dh_vec_release(&g.units);
    return ok || dh_err_while(err, "merging bitcode");
}

/* Code generation may call these although nothing in the module does yet. */
static const char *const called_by_code_generation[] = {
    "memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen", "__stack_chk_fail", "__stack_chk_guard",
    "fmod",   "fmodf",   "sqrt",   "malloc", "free", "abort",  "__cxa_throw",      "_Unwind_Resume"};

/* A variable in a section of its own may be reached through __start_ and __stop_ symbols. */
static void keep_sections(LLVMModuleRef m, struct dh_names *keep)
{
    size_t n;
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) {
        const char *section = LLVMGetSection(v);
        if (section && *section && LLVMGetInitializer(v) && strcmp(section, "llvm.metadata") != 0)
            dh_names_add(keep, LLVMGetValueName2(v, &n));
    }
}

static void write_preserved(LLVMModuleRef m, const struct dh_names *keep, struct dh_str *passes)
{
    size_t n;
    bool first = true;
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v)) {
        const char *name = LLVMGetValueName2(v, &n);
        if (!LLVMIsDeclaration(v) && dh_names_has(keep, name))
            dh_str_addf(passes, "%spreserve-gv=%s", first ? "" : ";", name), first = false;
    }
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) {
        const char *name = LLVMGetValueName2(v, &n);
        if (LLVMGetInitializer(v) && *name && dh_names_has(keep, name))
            dh_str_addf(passes, "%spreserve-gv=%s", first ? "" : ";", name), first = false;
    }
    for (LLVMValueRef v = LLVMGetFirstGlobalAlias(m); v; v = LLVMGetNextGlobalAlias(v)) {
        const char *name = LLVMGetValueName2(v, &n);
        if (dh_names_has(keep, name))
            dh_str_addf(passes, "%spreserve-gv=%s", first ? "" : ";", name), first = false;
    }
    for (LLVMValueRef v = LLVMGetFirstGlobalIFunc(m); v; v = LLVMGetNextGlobalIFunc(v))
        dh_str_addf(passes, "%spreserve-gv=%s", first ? "" : ";", LLVMGetValueName2(v, &n)), first = false;
    if (first)
        dh_str_add(passes, "preserve-gv=main");
}

bool dh_internalise(LLVMModuleRef m, const struct dh_names *keep, struct dh_err *err)
{
    struct dh_names all = {0};
    for (uint32_t i = 0; i < keep->of.n; i++)
        dh_names_add(&all, keep->of.at[i].key);
    for (size_t i = 0; i < sizeof called_by_code_generation / sizeof *called_by_code_generation; i++)
        dh_names_add(&all, called_by_code_generation[i]);
    dh_collect_assembly_symbols(m, &all);
    keep_sections(m, &all);
    struct dh_str passes = {0};
    dh_str_add(&passes, "internalize<");
    write_preserved(m, &all, &passes);
    dh_str_add(&passes, ">,globaldce");
    bool ok = dh_passes_run(m, passes.at, err);
    dh_str_release(&passes);
    dh_names_release(&all);
    return ok || dh_err_while(err, "making symbols internal");
}
