#include "instrument/own_allocator.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 64, PARAMETERS = 2 };

/* What the dynamic linker calls. `block`: a parameter says whose it is; else whether the engine calls does. */
static const struct diverted {
    const char *name;
    unsigned parameters;
    bool block;
} functions[] = {{"malloc", 1, false}, {"calloc", 2, false}, {"realloc", 2, true}, {"free", 1, true}};

/* A function with a body, or an alias of one, as most allocators have. */
static LLVMValueRef find_definition(LLVMModuleRef m, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (f)
        return LLVMIsDeclaration(f) ? NULL : f;
    return LLVMGetNamedGlobalAlias(m, name, strlen(name));
}

static bool has_shape(LLVMTypeRef type, const struct diverted *d)
{
    return LLVMGetTypeKind(type) == LLVMFunctionTypeKind && !LLVMIsFunctionVarArg(type) &&
           LLVMCountParamTypes(type) == d->parameters;
}

static LLVMValueRef declared(LLVMModuleRef m, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    return f ? f : LLVMAddFunction(m, name, type);
}

static void return_call(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef callee, LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef call = LLVMBuildCall2(b, type, callee, arguments, n, "");
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(b);
    else
        LLVMBuildRet(b, call);
}

/* NAME(...) { return __dh_inner_takes(block) ? __dh_inner_NAME(...) : the program's own NAME(...); } */
static void build_door(LLVMModuleRef m, const struct diverted *d, LLVMValueRef own, LLVMTypeRef type)
{
    char inner[NAME];
    LLVMContextRef context = LLVMGetModuleContext(m);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0), bit = LLVMInt1TypeInContext(context);
    LLVMTypeRef asks = LLVMFunctionType(bit, &pointer, 1, false);
    LLVMValueRef door = LLVMAddFunction(m, d->name, type), arguments[PARAMETERS];
    LLVMGetParams(door, arguments);
    snprintf(inner, sizeof inner, "__dh_inner_%s", d->name);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, door, "entry");
    LLVMBasicBlockRef engine = LLVMAppendBasicBlockInContext(context, door, "engine");
    LLVMBasicBlockRef program = LLVMAppendBasicBlockInContext(context, door, "program");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef block = d->block ? arguments[0] : LLVMConstNull(pointer);
    LLVMValueRef takes = LLVMBuildCall2(b, asks, declared(m, "__dh_inner_takes", asks), &block, 1, "");
    LLVMBuildCondBr(b, takes, engine, program);
    LLVMPositionBuilderAtEnd(b, engine);
    return_call(b, type, declared(m, inner, type), arguments, d->parameters);
    LLVMPositionBuilderAtEnd(b, program);
    return_call(b, type, own, arguments, d->parameters);
    LLVMDisposeBuilder(b);
}

void dh_own_allocator_divert(LLVMModuleRef m)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct diverted *d = &functions[i];
        LLVMValueRef own = find_definition(m, d->name);
        LLVMTypeRef type = own ? LLVMGlobalGetValueType(own) : NULL;
        char renamed[NAME];
        if (!own || !has_shape(type, d))
            continue;
        int n = snprintf(renamed, sizeof renamed, "__dh_own_%s", d->name);
        LLVMSetValueName2(own, renamed, (size_t)n);
        build_door(m, d, own, type);
    }
}
