/* Translates a whole-program module to the abstract program of model/program.h. Layer: ir. Needs: the module as the
 * container carries it (merged, after SROA, tagged). Provides: a finished program; constructs without an exact
 * translation are counted in its limits. The module is not changed. */
#ifndef DH_IR_MODEL_READER_H
#define DH_IR_MODEL_READER_H

#include "host/err.h"
#include "model/library_models.h"
#include "model/program.h"

#include <llvm-c/Core.h>

/* `library`: every externally callable function is an entry. `strict`: the translation is sound, so that proofs hold;
 * else the insides of strings and containers are kept apart more precisely than is sound. `p` is initialised here and
 * released by the caller in any case. */
bool dh_ir_read_model(LLVMModuleRef m, const struct dh_library_models *models, bool library, bool strict,
                      struct dh_program *p, struct dh_err *err);

#endif
