/* Base objects of addresses within one source function, and whether the function stores through them. Layer:
 * instrument. Heuristic: what a function only reads is more likely shared than what it also writes. It orders checks,
 * it never drops one. One per module; owns its cache. */
#ifndef DH_INSTRUMENT_ADDRESS_BASES_H
#define DH_INSTRUMENT_ADDRESS_BASES_H

#include "base/set.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

struct dh_address_bases {
    struct dh_u64_set stored;
};

void dh_address_bases_release(struct dh_address_bases *r);
void dh_address_bases_enter_function(struct dh_address_bases *r, LLVMValueRef f);
/* The function of the source that the access comes from stores to nothing that is reached from the same variable,
 * argument or call. */
bool dh_address_bases_is_read_only(const struct dh_address_bases *r, LLVMValueRef access, LLVMValueRef addr);

#endif
