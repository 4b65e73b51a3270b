/* Stores of vtable pointers. A destructor stores the address of its own class's vtable before anything else: in the
 * most derived class that is what the object has already, and threads that call virtual functions until the destructor
 * joins them are not disturbed by it. So such a store counts as an access only if it changes the pointer. Layer:
 * instrument. */
#ifndef DH_INSTRUMENT_VTABLE_STORES_H
#define DH_INSTRUMENT_VTABLE_STORES_H

#include "instrument/pass.h"

/* An access tag (!tbaa) of vtable pointers. */
bool dh_tag_names_vtable(LLVMValueRef tag);
bool dh_is_vtable_store(const struct dh_memop *a);
/* The address that hooks are given: that of the access, or, if the store changes nothing, one that no other thread
 * knows. The builder stands before the store. */
LLVMValueRef dh_vtable_store_address(struct dh_pass *pass, const struct dh_memop *a);

#endif
