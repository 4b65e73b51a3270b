/* Translates a module: globals and functions first, then bodies. */
#include "base/str.h"
#include "ir/access_names.h"
#include "ir/annotations.h"
#include "ir/model_internal.h"
#include "ir/model_reader.h"
#include "ir/sites.h"
#include "ir/symbol_names.h"
#include "model/mangled_names.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static const char *name_of(LLVMValueRef v)
{
    size_t n;
    return LLVMGetValueName2(v, &n);
}

static bool is_exported(LLVMValueRef v)
{
    LLVMLinkage l = LLVMGetLinkage(v);
    return !LLVMIsDeclaration(v) && l != LLVMInternalLinkage && l != LLVMPrivateLinkage &&
           l != LLVMAvailableExternallyLinkage && /* a copy of a library's definition */
           LLVMGetVisibility(v) == LLVMDefaultVisibility;
}

/* ---- functions ---- */
static bool is_callee_of(LLVMValueRef user, LLVMValueRef f)
{
    if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
        return false;
    if (LLVMGetCalledValue(user) != f)
        return false;
    for (unsigned n = 0; n < LLVMGetNumArgOperands(user); n++)
        if (LLVMGetOperand(user, n) == f)
            return false;
    return true;
}

static bool is_address_taken(LLVMValueRef f)
{
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
        if (!is_callee_of(LLVMGetUser(u), f))
            return true;
    return false;
}

static bool has_attribute(LLVMValueRef f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
}

static bool has_own_attribute(LLVMValueRef f, const char *name)
{
    return LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
}

static uint32_t flags_of(LLVMValueRef f)
{
    uint32_t flags = 0;
    flags |= LLVMIsDeclaration(f) ? DH_FUNCTION_EXTERNAL : 0;
    flags |= is_exported(f) ? DH_FUNCTION_EXPORTED : 0;
    flags |= is_address_taken(f) ? DH_FUNCTION_ADDRESS_TAKEN : 0;
    flags |= LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f)) ? DH_FUNCTION_VARIADIC : 0;
    flags |= has_own_attribute(f, DH_NO_CHECK_ATTRIBUTE) ? DH_FUNCTION_NO_CHECK : 0;
    flags |= has_attribute(f, "noreturn") ? DH_FUNCTION_NO_RETURN : 0;
    flags |= dh_mangled_is_constructor_or_destructor(name_of(f)) ? DH_FUNCTION_CONSTRUCTION : 0;
    return flags;
}

static void declare_function(struct dh_model_reader *r, LLVMValueRef f)
{
    const char *source = NULL;
    struct dh_type *result;
    LLVMMetadataRef sub = LLVMGetSubprogram(f);
    struct dh_function row = {.name = dh_build_string(r->p, name_of(f)),
                              .site = dh_ir_function_site(f),
                              .signature = dh_read_signature(r, LLVMGlobalGetValueType(f)),
                              .flags = flags_of(f),
                              .n_params = LLVMCountParams(f)};
    row.n_params += row.flags & DH_FUNCTION_VARIADIC ? 1 : 0;
    if (sub) {
        row.file = dh_build_string(r->p, dh_di_scope(r->di, sub)->file);
        row.line = LLVMDISubprogramGetLine(sub);
    }
    if (dh_di_function(r->di, f, &source, &result))
        row.source = dh_build_string(r->p, sub ? dh_di_scope(r->di, sub)->function : source);
    uint32_t index = dh_build_function(r->p, &row);
    *dh_ptr_map_at(&r->functions, f) = (void *)((uintptr_t)index + 1);
}

static bool is_intrinsic(LLVMValueRef f)
{
    return dh_starts_with(name_of(f), "llvm.");
}

/* ---- globals ---- */
static void place_global(struct dh_model_reader *r, LLVMValueRef g, struct dh_global *row)
{
    size_t n;
    LLVMValueMetadataEntry *all = LLVMGlobalCopyAllMetadata(g, &n);
    for (size_t i = 0; i < n && !row->file; i++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(all, (unsigned)i);
        if (LLVMGetMetadataKind(node) != LLVMDIGlobalVariableExpressionMetadataKind)
            continue;
        LLVMMetadataRef variable = LLVMDIGlobalVariableExpressionGetVariable(node);
        LLVMMetadataRef file = variable ? LLVMDIVariableGetFile(variable) : NULL;
        if (!file)
            continue;
        unsigned length;
        const char *name = LLVMDIFileGetFilename(file, &length);
        row->file = dh_build_string(r->p, dh_arena_text(&r->arena, name, length));
        row->line = LLVMDIVariableGetLine(variable);
    }
    LLVMDisposeValueMetadataEntries(all);
}

static void declare_global(struct dh_model_reader *r, LLVMValueRef g)
{
    const struct dh_variable *known = dh_di_global(r->di, g);
    bool artificial = false;
    struct dh_global row = {.name = dh_build_string(r->p, name_of(g))};
    row.flags |= LLVMIsGlobalConstant(g) ? DH_GLOBAL_CONSTANT : 0;
    row.flags |= LLVMIsThreadLocal(g) ? DH_GLOBAL_TLS : 0;
    row.flags |= LLVMIsDeclaration(g) ? DH_GLOBAL_EXTERNAL : 0;
    row.flags |= is_exported(g) ? DH_GLOBAL_EXPORTED : 0;
    row.flags |= !LLVMIsDeclaration(g) && LLVMIsNull(LLVMGetInitializer(g)) ? DH_GLOBAL_ZERO : 0;
    row.flags |= dh_mangled_is_vtable(name_of(g)) ? DH_GLOBAL_VTABLE : 0;
    if (LLVMTypeIsSized(LLVMGlobalGetValueType(g)))
        row.size = LLVMABISizeOfType(r->layout, LLVMGlobalGetValueType(g));
    if (known && known->type)
        row.type = dh_build_string(r->p, dh_type_spell(r->di, known->type, dh_starts_with(name_of(g), "_Z")));
    row.source = dh_build_string(
        r->p, known && *known->name ? known->name : dh_symbol_source_name(&r->arena, name_of(g), &artificial));
    place_global(r, g, &row);
    uint32_t index = dh_build_global(r->p, &row);
    *dh_ptr_map_at(&r->globals, g) = (void *)((uintptr_t)index + 1);
}

static void declare(struct dh_model_reader *r)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(r->module); f; f = LLVMGetNextFunction(f))
        if (!is_intrinsic(f))
            declare_function(r, f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g; g = LLVMGetNextGlobal(g))
        if (!is_intrinsic(g))
            declare_global(r, g);
}

static void read_globals(struct dh_model_reader *r)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g; g = LLVMGetNextGlobal(g)) {
        uintptr_t index = (uintptr_t)dh_ptr_map_find(&r->globals, g);
        LLVMValueRef value = index ? LLVMGetInitializer(g) : NULL;
        if (value)
            dh_read_initialiser(r, (uint32_t)index - 1, value);
    }
}

/* ---- roots ---- */
static uint32_t function_of(struct dh_model_reader *r, LLVMValueRef v)
{
    uintptr_t index = v ? (uintptr_t)dh_ptr_map_find(&r->functions, dh_read_strip_alias(v)) : 0;
    return index ? (uint32_t)index - 1 : DH_NONE;
}

/* Lists of { priority, function, data }. */
static void read_list(struct dh_model_reader *r, const char *list, enum dh_root_kind kind)
{
    LLVMValueRef g = LLVMGetNamedGlobal(r->module, list), value = g ? LLVMGetInitializer(g) : NULL;
    for (int i = 0; value && LLVMIsAConstantArray(value) && i < LLVMGetNumOperands(value); i++) {
        LLVMValueRef entry = LLVMGetOperand(value, (unsigned)i);
        if (!LLVMIsAConstantStruct(entry))
            continue;
        uint32_t f = function_of(r, LLVMGetOperand(entry, 1));
        if (f != DH_NONE)
            dh_build_root(r->p, kind, f, (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0)));
    }
}

static void read_section(struct dh_model_reader *r, LLVMValueRef g)
{
    const char *section = LLVMGetSection(g);
    LLVMValueRef value = section ? LLVMGetInitializer(g) : NULL;
    bool init = section && dh_starts_with(section, ".init_array");
    if (!value || (!init && !dh_starts_with(section, ".fini_array")))
        return;
    enum dh_root_kind kind = init ? DH_ROOT_CONSTRUCTOR : DH_ROOT_DESTRUCTOR;
    uint32_t f = function_of(r, value);
    if (f != DH_NONE)
        dh_build_root(r->p, kind, f, 65535);
    for (int i = 0; LLVMIsAConstantArray(value) && i < LLVMGetNumOperands(value); i++) {
        f = function_of(r, LLVMGetOperand(value, (unsigned)i));
        if (f != DH_NONE)
            dh_build_root(r->p, kind, f, 65535);
    }
}

static void read_roots(struct dh_model_reader *r, bool library)
{
    uint32_t entry = function_of(r, LLVMGetNamedFunction(r->module, "main"));
    if (entry != DH_NONE)
        dh_build_root(r->p, DH_ROOT_MAIN, entry, 0);
    read_list(r, "llvm.global_ctors", DH_ROOT_CONSTRUCTOR);
    read_list(r, "llvm.global_dtors", DH_ROOT_DESTRUCTOR);
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g; g = LLVMGetNextGlobal(g))
        read_section(r, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(r->module); library && f; f = LLVMGetNextFunction(f)) {
        uint32_t index = function_of(r, f);
        if (index != DH_NONE && index != entry && is_exported(f))
            dh_build_root(r->p, DH_ROOT_EXPORTED, index, 0);
    }
}

/* ---- all ---- */
/* Parameters have registers whether there is a body or not. */
static void read_no_body(struct dh_model_reader *r, uint32_t index)
{
    dh_build_body(r->p, index);
    for (uint32_t k = 0; k < r->p->functions.at[index].n_params; k++)
        dh_build_register(r->p, DH_REG_DATA);
}

static void read_bodies(struct dh_model_reader *r)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(r->module); f; f = LLVMGetNextFunction(f)) {
        uint32_t index = function_of(r, f);
        if (index == DH_NONE)
            continue;
        const struct dh_library_function *known = dh_library_models_find(r->models, name_of(f));
        if (!LLVMIsDeclaration(f) && !dh_read_model_replaces_body(r, name_of(f), known))
            dh_read_body(r, f, index);
        else if (!LLVMIsDeclaration(f) || r->p->functions.at[index].flags & DH_FUNCTION_ADDRESS_TAKEN)
            dh_read_library_body(r, f, index);
        else
            read_no_body(r, index);
    }
}

static void release(struct dh_model_reader *r)
{
    dh_ptr_map_release(&r->functions);
    dh_ptr_map_release(&r->globals);
    dh_ptr_map_release(&r->folded);
    dh_ptr_map_release(&r->signatures);
    dh_ptr_map_release(&r->values);
    dh_ptr_map_release(&r->blocks);
    dh_ptr_map_release(&r->wide);
    dh_vec_release(&r->pending);
    dh_vec_release(&r->hidden);
    dh_arena_release(&r->arena);
    dh_arena_release(&r->body);
    if (r->namer)
        dh_namer_free(r->namer);
    dh_di_free(r->di);
}

bool dh_ir_read_model(LLVMModuleRef m, const struct dh_library_models *models, bool library, bool strict,
                      struct dh_program *p, struct dh_err *err)
{
    struct dh_model_reader r = {
        .module = m, .layout = LLVMGetModuleDataLayout(m), .p = p, .models = models, .strict = strict};
    dh_program_init(p);
    LLVMSetIsNewDbgInfoFormat(m, 0);
    r.di = dh_di_new(m);
    r.data = dh_build_constant(p, DH_CONST_DATA, 0, 0);
    r.unknown = dh_build_constant(p, DH_CONST_UNKNOWN, 0, 0);
    dh_read_member_pointers(&r);
    declare(&r);
    read_globals(&r);
    read_roots(&r, library);
    read_bodies(&r);
    release(&r);
    dh_program_finish(p);
    const char *why = dh_program_verify(p);
    return !why || dh_err_set(err, "the model of this program is wrong: %s; please report this", why);
}
