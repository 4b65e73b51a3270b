/* Declares and calls the hooks of event/hooks.h from LLVM IR. Layer: instrument. A hook is declared in the module when
 * first called; `struct dh_hooks` owns nothing but the cache. */
#ifndef DH_INSTRUMENT_HOOKS_H
#define DH_INSTRUMENT_HOOKS_H

#include "host/err.h"

#include <llvm-c/Core.h>

enum dh_hook {
    DH_HOOK_READ1,
    DH_HOOK_READ2,
    DH_HOOK_READ4,
    DH_HOOK_READ8,
    DH_HOOK_READ16,
    DH_HOOK_WRITE1,
    DH_HOOK_WRITE2,
    DH_HOOK_WRITE4,
    DH_HOOK_WRITE8,
    DH_HOOK_WRITE16,
    DH_HOOK_READ_RANGE,
    DH_HOOK_WRITE_RANGE,
    DH_HOOK_ATOMIC,
    DH_HOOK_FENCE,
    DH_HOOK_CALL,
    DH_HOOK_BEFORE,
    DH_HOOK_AFTER,
    DH_HOOK_BEFORE_RANGE,
    DH_HOOK_AFTER_RANGE,
    DH_HOOK_ATOMIC_LOAD1,
    DH_HOOK_ATOMIC_LOAD2,
    DH_HOOK_ATOMIC_LOAD4,
    DH_HOOK_ATOMIC_LOAD8,
    DH_HOOK_ATOMIC_LOAD16,
    DH_HOOK_ATOMIC_STORE1,
    DH_HOOK_ATOMIC_STORE2,
    DH_HOOK_ATOMIC_STORE4,
    DH_HOOK_ATOMIC_STORE8,
    DH_HOOK_ATOMIC_STORE16,
    DH_HOOK_ATOMIC_RMW1,
    DH_HOOK_ATOMIC_RMW2,
    DH_HOOK_ATOMIC_RMW4,
    DH_HOOK_ATOMIC_RMW8,
    DH_HOOK_ATOMIC_RMW16,
    DH_HOOK_ATOMIC_CAS1,
    DH_HOOK_ATOMIC_CAS2,
    DH_HOOK_ATOMIC_CAS4,
    DH_HOOK_ATOMIC_CAS8,
    DH_HOOK_ATOMIC_CAS16,
    DH_HOOK_READ4_SHARED,
    DH_HOOK_READ8_SHARED,
    DH_HOOK_ALIVE_READ,
    DH_HOOK_ALIVE_WRITE,
    DH_HOOK_READ_UNALIGNED,
    DH_HOOK_WRITE_UNALIGNED,
    DH_HOOK_NOTE_READ,
    DH_HOOK_NOTE_WRITE,
    DH_HOOK_NOTE_READ4,
    DH_HOOK_NOTE_READ8,
    DH_HOOK_NOTE_WRITE4,
    DH_HOOK_NOTE_WRITE8,
    DH_HOOK_ATOM_BEFORE,
    DH_HOOK_ATOM_AFTER,
    DH_HOOK_ATOM_BEFORE_RANGE,
    DH_HOOK_ATOM_AFTER_RANGE,
    DH_HOOK_SCOPE_READ,
    DH_HOOK_SCOPE_WRITE,
    DH_HOOK_SCOPE_READ_RANGE,
    DH_HOOK_SCOPE_WRITE_RANGE,
    DH_HOOK_ASSEMBLY,
    DH_HOOK_SPARE,
    DH_HOOK_READ_RUN,
    DH_HOOK_WRITE_RUN,
    DH_HOOK_HEAL_OPEN,
    DH_HOOK_HEAL_CLOSE,
    DH_HOOK_HEAL_ENTER,
    DH_HOOK_HEAL_LEAVE,
    DH_HOOK_HEAL_OPEN_AT,
    DH_HOOK_HEAL_ENTER_AT,
    DH_HOOK_HEAL_LEAVE_AT,
    DH_HOOK_HEAL_AWAIT,
    DH_HOOK_HEAL_HAPPENED,
    DH_HOOK_HEAL_WAIT,
    DH_HOOK_ENTER,
    DH_HOOK_LEAVE,
    DH_HOOK_RESUME,
    DH_HOOK_SCOPE_ENTER, /* its place is the function's site, wherever it is inlined */
    DH_HOOK_SCOPE_LEAVE,
    DH_HOOK_LOAD1, /* their places are sites, without inlining chains */
    DH_HOOK_LOAD2,
    DH_HOOK_LOAD4,
    DH_HOOK_LOAD8,
    DH_HOOK_STORE1,
    DH_HOOK_STORE2,
    DH_HOOK_STORE4,
    DH_HOOK_STORE8,
    DH_HOOK_LOAD_ANY,
    DH_HOOK_STORE_ANY,
    DH_HOOK_COPY_ANY,
    DH_HOOK_FILL_ANY,
    DH_HOOK_LOCAL,
    DH_HOOK_UNWATCHED,
    DH_HOOK_HEAL_RETURN,
    DH_HOOK_HEAL_AGAIN,
    DH_HOOK_COUNT
};

/* Every symbol that generated code may call starts like this; nothing of that name is instrumented. */
#define DH_HOOK_PREFIX "__dh_"
#define DH_HOOK_MAX_ARGS 6

struct dh_hooks {
    LLVMModuleRef m;
    LLVMValueRef function[DH_HOOK_COUNT];
    LLVMTypeRef type[DH_HOOK_COUNT];
};

/* Fails when the program defines something that is no function under a hook's name. */
bool dh_hooks_init(struct dh_hooks *h, LLVMModuleRef m, struct dh_err *err);
/* Emits a call at the builder's position; as many arguments as the hook has parameters. */
LLVMValueRef dh_hooks_call(struct dh_hooks *h, LLVMBuilderRef b, enum dh_hook hook, LLVMValueRef *args);
bool dh_hooks_is_hook(LLVMValueRef called);
/* Which one, or DH_HOOK_COUNT. */
enum dh_hook dh_hooks_which(LLVMValueRef called);
/* Is it a hook whose last argument is a place? */
bool dh_hooks_takes_place(LLVMValueRef called);
/* Which of LOAD1 to STORE8 the call is, or DH_HOOK_COUNT. */
enum dh_hook dh_hooks_access(LLVMValueRef call);

#endif
