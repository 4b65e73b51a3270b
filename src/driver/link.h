/* The linker clang calls: native link, then merge, number, instrument, embed, link again. Layer: driver.
 * Answers the exit code; our own failures are in err with code -1. */
#ifndef DH_DRIVER_LINK_H
#define DH_DRIVER_LINK_H

#include "host/err.h"

/* What the compile side tells the linker, in the environment. */
#define DH_LD_LEVEL "DEADHEAT_LD_LEVEL"
#define DH_LD_NO_EMBED "DEADHEAT_LD_NO_EMBED"
#define DH_LD_PLAN "DEADHEAT_LD_PLAN" /* how much is left out (driver/variant.h) */
#define DH_LD_HEAL "DEADHEAT_LD_HEAL" /* file of the policy of a production build */

int dh_link(int argc, char **argv, struct dh_err *err);

#endif
