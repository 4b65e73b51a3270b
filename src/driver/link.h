/* The linker that clang calls: links natively, merges the bitcode, numbers sites, instruments, embeds the container and
 * links again. Layer: driver. Returns the exit code; failures of our own are in err with code -1. */
#ifndef DH_DRIVER_LINK_H
#define DH_DRIVER_LINK_H

#include "host/err.h"

/* Environment variables from driver/compile.c to the linker. */
#define DH_LD_LEVEL "DEADHEAT_LD_LEVEL"
#define DH_LD_NO_EMBED "DEADHEAT_LD_NO_EMBED"
#define DH_LD_PLAN "DEADHEAT_LD_PLAN" /* degree of sparse instrumentation */
#define DH_LD_HEAL "DEADHEAT_LD_HEAL" /* policy file of a production build */

int dh_link(int argc, char **argv, struct dh_err *err);

#endif
