/* The inline fast paths of all detectors as one module of bitcode. Layer: runtime. */
#include "runtime/inline/atomrace.c"
#include "runtime/inline/frames.c"
#include "runtime/inline/race.c"
#include "runtime/inline/record.c"
#include "runtime/inline/scopes.c"
#include "runtime/inline/stale.c"
