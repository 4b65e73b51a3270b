/* Orders that the C++ library's own code lacks, of which its users would be told as races of theirs. Layer: instrument.
 */
#ifndef DH_INSTRUMENT_LIBRARY_DEFECTS_H
#define DH_INSTRUMENT_LIBRARY_DEFECTS_H

#include <llvm-c/Core.h>

/* libstdc++ 12 unlocks a std::atomic<std::shared_ptr> that was loaded with relaxed order, so that nothing orders the
 * load before the next store: here it releases. Before anything is inlined. */
void dh_library_defects_mend(LLVMModuleRef m);

#endif
