/* Whether two accesses are to one variable as the source names it. Layer: cmd. Where memory holds now one type and now
 * another, or where pointers to two kinds of objects were not told apart, their names tell. */
#ifndef DH_CMD_SCAN_ALIKE_H
#define DH_CMD_SCAN_ALIKE_H

#include "driver/whole_program.h"

/* For struct dh_walk: `self` is the struct dh_whole_program, the others are instructions. */
bool dh_scan_alike(void *self, uint32_t one, uint32_t other);
/* The same number for the same field or variable, 0: no name. */
uint32_t dh_scan_name(void *self, uint32_t inst);
/* The same with the type that it is a field of. */
uint32_t dh_scan_full_name(void *self, uint32_t inst);

#endif
