/* Everything that is inlined into executables, as one module. */
#include "runtime/inline/frames.c"
#include "runtime/inline/race.c"
#include "runtime/inline/record.c"
