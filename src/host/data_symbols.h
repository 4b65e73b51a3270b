/* The variables of a file by address, from its symbol table: quick, and without debug information. Layer: host
 * (libelf). Owned by the caller. */
#ifndef DH_HOST_DATA_SYMBOLS_H
#define DH_HOST_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct dh_data_symbols;
/* Never NULL; a file without symbols has no variables. */
struct dh_data_symbols *dh_data_symbols_read(const char *path);
void dh_data_symbols_free(struct dh_data_symbols *s);
/* The variable around an address as the file has it. */
bool dh_data_symbols_find(const struct dh_data_symbols *s, uint64_t addr, uint64_t *at, uint64_t *size);
/* Its name; "" when there is none. */
const char *dh_data_symbols_name(const struct dh_data_symbols *s, uint64_t addr);

#endif
