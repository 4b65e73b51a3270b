/* Objects that carry bitcode. Layer: driver. The section that clang writes (.llvmbc) makes GNU nm and ar take an object
 * for LLVM IR, so the compile step renames it in place; its last letter tells the optimisation level asked for. */
#ifndef DH_DRIVER_OBJECT_BITCODE_H
#define DH_DRIVER_OBJECT_BITCODE_H

#include "image/elf_image.h"

#define DH_CLANG_BITCODE ".llvmbc"
#define DH_OBJECT_BITCODE ".dh_ir" /* + one of 0 1 2 3 s z */

/* Renames the bitcode section of the object file `path`; true when it has none. */
bool dh_object_rename_bitcode(const char *path, char level, struct dh_err *err);

/* Level letter if the section carries bitcode, 0 otherwise; `fallback` stands for sections clang named. */
char dh_object_bitcode_level(const char *section, char fallback);
bool dh_object_has_bitcode(struct dh_elf *e);

/* Puts a hash into the object's bitcode, once it is final. */
bool dh_object_hash_bitcode(const char *path, struct dh_err *err);
/* False when the stream has a hash that differs. Unsealed ones, of sources given on a link line, pass. */
bool dh_bitcode_hash_matches(const uint8_t *stream, size_t n);

/* Length of the bitcode stream that starts at `bytes`: sections that ld -r or the linker joined hold several.
 * 0 when it is not a stream. */
size_t dh_bitcode_stream_length(const uint8_t *bytes, size_t n);

#endif
