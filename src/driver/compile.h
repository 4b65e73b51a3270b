/* `deadheat cc -c`: runs clang so that objects carry their bitcode (-fembed-bitcode). Layer: driver. */
#ifndef DH_DRIVER_COMPILE_H
#define DH_DRIVER_COMPILE_H

#include "driver/arguments.h"

/* Runs clang for these arguments; returns its exit code, or -1 with err set for failures of our own. */
int dh_compile(struct dh_cc_args *a, struct dh_err *err);

#endif
