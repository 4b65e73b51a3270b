/* Random small programs with threads in text form, for tests of static analyses: always defined, whatever order their
 * threads run in, but rarely free of races. */
#ifndef DH_TEST_ANALYSIS_PROGRAMS_H
#define DH_TEST_ANALYSIS_PROGRAMS_H

#include "base/str.h"

#include <stdint.h>

struct chance {
    uint64_t state;
};
/* 0 .. n-1 */
unsigned chance_below(struct chance *c, unsigned n);

void random_program(struct chance *c, struct dh_str *out);

#endif
