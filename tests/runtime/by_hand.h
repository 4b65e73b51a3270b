/* Calls of the shadow stack's hooks as the instrumenter would place them. Needs -fno-omit-frame-pointer. */
#ifndef DH_TESTS_BY_HAND_H
#define DH_TESTS_BY_HAND_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "event/hooks.h"
#ifdef __cplusplus
}
#endif

#define ENTER uint32_t dh_depth = __dh_enter((const char *)__builtin_frame_address(0) + 8, __builtin_return_address(0))
#define LEAVE __dh_leave(dh_depth)
#define RESUME __dh_resume(dh_depth)
#define NOINLINE __attribute__((noinline, disable_tail_calls))

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
