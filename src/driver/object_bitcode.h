/* The bitcode section of object files. Layer: driver. The name that clang gives it (.llvmbc) makes GNU nm and ar treat
 * the object as LLVM IR, so the compile step renames it in place; its last letter is the optimisation level. */
#ifndef DH_DRIVER_OBJECT_BITCODE_H
#define DH_DRIVER_OBJECT_BITCODE_H

#include "image/elf_image.h"

#define DH_CLANG_BITCODE ".llvmbc"
#define DH_OBJECT_BITCODE ".dh_ir" /* + one of 0 1 2 3 s z */

/* Renames the bitcode section of the object file `path`; true when it has none. */
bool dh_object_rename_bitcode(const char *path, char level, struct dh_err *err);

/* Level letter if the section carries bitcode, 0 otherwise; `fallback` for sections that still have clang's name. */
char dh_object_bitcode_level(const char *section, char fallback);
bool dh_object_has_bitcode(struct dh_elf *e);

/* Writes a hash into the object's bitcode, once it is final. */
bool dh_object_hash_bitcode(const char *path, struct dh_err *err);
/* False when the stream has a hash that differs. Bitcode without a hash, of sources compiled on a link line, passes. */
bool dh_bitcode_hash_matches(const uint8_t *stream, size_t n);

/* Length of the bitcode stream that starts at `bytes`: sections that ld -r or the linker joined hold several.
 * 0 when it is not a stream. */
size_t dh_bitcode_stream_length(const uint8_t *bytes, size_t n);

#endif
