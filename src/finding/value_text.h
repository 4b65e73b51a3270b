/* Formats the bytes of a variable by its type. Layer: finding. */
#ifndef DH_FINDING_VALUE_TEXT_H
#define DH_FINDING_VALUE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* "-3", "0x7f00", "2.5"; hexadecimal bytes where type and size are not understood. Owned by the caller. */
char *dh_value_text(const uint8_t *bytes, size_t n, const char *type);

#endif
