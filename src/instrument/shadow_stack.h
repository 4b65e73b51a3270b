/* Shadow call stack: hooks at entry, exit and landing pads of every function that can be on a stack when a hook runs.
 * Layer: instrument. Runs after the other hooks of a function are placed. */
#ifndef DH_INSTRUMENT_SHADOW_STACK_H
#define DH_INSTRUMENT_SHADOW_STACK_H

#include "instrument/pass.h"

/* Does the module have frame hooks already? A second set would push every function twice. */
bool dh_frames_present(LLVMModuleRef m);
void dh_frames_place(struct dh_pass *pass, LLVMValueRef function);

#endif
