#include "driver/passes.h"

#include "base/str.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

/* What default<O2> does after its simplification half (thinlto-pre-link<O2> is exactly the first half). Kept as text
 * because the C API has no name for it; `opt -passes='default<O2>' -print-pipeline-passes` prints the whole. */
#define SIMPLIFYCFG_LATE                                                                                               \
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;"      \
    "hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>"
#define BEFORE_VECTORISING                                                                                             \
    "always-inline,elim-avail-extern,rpo-function-attrs,recompute-globalsaa,function<eager-inv>(early-cse<>,"          \
    "float2int,"                                                                                                       \
    "lower-constant-intrinsics,loop(loop-rotate<header-duplication;no-prepare-for-lto>,loop-deletion),"
#define AFTER_VECTORISING(unroll)                                                                                      \
    unroll ",transform-warning,sroa<preserve-cfg>,infer-alignment,instcombine<no-verify-fixpoint>,loop-mssa(licm<"     \
           "allowspeculation>),"                                                                                       \
           "alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,tailcallelim,simplifycfg),globaldce,"      \
           "constmerge,cg-profile,rel-lookup-table-converter"

static const struct level {
    char letter;
    const char *simplify, *optimise;
} levels[] = {
    {'0', "default<O0>", "always-inline,globaldce"},
    {DH_LEVEL_QUICK, "always-inline,function(sroa<modify-cfg>,early-cse<>,simplifycfg)", "always-inline,globaldce"},
    {'1', "thinlto-pre-link<O1>",
     BEFORE_VECTORISING "instcombine<no-verify-fixpoint>," SIMPLIFYCFG_LATE "," AFTER_VECTORISING("loop-unroll<O1>")},
    {'2', "thinlto-pre-link<O2>",
     BEFORE_VECTORISING
     "loop-distribute,inject-tli-mappings,loop-vectorize,infer-alignment,loop-load-elim,instcombine<no-verify-fixpoint>"
     "," SIMPLIFYCFG_LATE
     ",slp-vectorizer,vector-combine,instcombine<no-verify-fixpoint>," AFTER_VECTORISING("loop-unroll<O2>")},
    {'3', "thinlto-pre-link<O3>",
     BEFORE_VECTORISING
     "loop-distribute,inject-tli-mappings,loop-vectorize,infer-alignment,loop-load-elim,instcombine<no-verify-fixpoint>"
     "," SIMPLIFYCFG_LATE
     ",slp-vectorizer,vector-combine,instcombine<no-verify-fixpoint>," AFTER_VECTORISING("loop-unroll<O3>")},
    {'s', "thinlto-pre-link<Os>",
     BEFORE_VECTORISING
     "loop-distribute,inject-tli-mappings,loop-vectorize,infer-alignment,loop-load-elim,instcombine<no-verify-fixpoint>"
     "," SIMPLIFYCFG_LATE
     ",slp-vectorizer,vector-combine,instcombine<no-verify-fixpoint>," AFTER_VECTORISING("loop-unroll<O2>")},
    {'z', "thinlto-pre-link<Oz>",
     BEFORE_VECTORISING "instcombine<no-verify-fixpoint>," SIMPLIFYCFG_LATE "," AFTER_VECTORISING("loop-unroll<O1>")},
};

static const struct level *find_level(char letter)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].letter == letter)
            return &levels[i];
    return find_level('2');
}

static LLVMTargetMachineRef machine_for(LLVMModuleRef m, struct dh_err *err)
{
    static bool ready;
    if (!ready) {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        ready = true;
    }
    LLVMTargetRef target;
    char *why = NULL;
    if (LLVMGetTargetFromTriple(LLVMGetTarget(m), &target, &why)) {
        dh_err_set(err, "target %s: %s", LLVMGetTarget(m), why);
        LLVMDisposeMessage(why);
        return NULL;
    }
    /* Functions carry their own CPU and features as attributes. */
    return LLVMCreateTargetMachine(target, LLVMGetTarget(m), "", "", LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

bool dh_passes_run(LLVMModuleRef m, const char *passes, struct dh_err *err)
{
    LLVMTargetMachineRef machine = machine_for(m, err);
    if (!machine)
        return false;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(m, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetMachine(machine);
    if (!failed)
        return true;
    char *why = LLVMGetErrorMessage(failed);
    dh_err_set(err, "LLVM refuses the passes '%.60s...': %s", passes, why);
    LLVMDisposeErrorMessage(why);
    return false;
}

bool dh_passes_promote(LLVMModuleRef m, struct dh_err *err)
{
    return dh_passes_run(m, "always-inline,function(sroa<modify-cfg>,sccp)", err) ||
           dh_err_while(err, "promoting locals");
}

bool dh_passes_simplify(LLVMModuleRef m, char level, struct dh_err *err)
{
    return dh_passes_run(m, find_level(level)->simplify, err) || dh_err_while(err, "simplifying");
}

bool dh_passes_coverage(LLVMModuleRef m, struct dh_err *err)
{
    bool gcov = LLVMGetNamedMetadataNumOperands(m, "llvm.gcov") > 0;
    bool counters = LLVMGetNamedFunction(m, "llvm.instrprof.increment") != NULL;
    bool ok =
        (!gcov || dh_passes_run(m, "insert-gcov-profiling", err)) && (!counters || dh_passes_run(m, "instrprof", err));
    return ok || dh_err_while(err, "adding coverage counters");
}

bool dh_passes_optimise(LLVMModuleRef m, char level, bool asan, struct dh_err *err)
{
    bool ok = dh_passes_run(m, find_level(level)->optimise, err) && (!asan || dh_passes_run(m, "asan", err));
    return ok || dh_err_while(err, "optimising");
}
