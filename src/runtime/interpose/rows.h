/* Library functions as rows: what they read and write on behalf of an observed caller. Layer: runtime. A row
 * says `before` what is known from the arguments and `after` what follows from the answer. Only within a row: R and W.
 */
#ifndef DH_RUNTIME_INTERPOSE_ROWS_H
#define DH_RUNTIME_INTERPOSE_ROWS_H

#include "runtime/interpose/interpose.h"
#include "runtime/interpose/library_access.h"

#define R(at, n) dh_access_read(at, n, slot)
#define W(at, n) dh_access_write(at, n, slot)

#define DH_ROW(result, name, parameters, arguments, before, after)                                                     \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        dh_interpose_ready();                                                                                          \
        if (__builtin_expect(!dh_access_wanted(slot), 1))                                                              \
            return dh_real.name arguments;                                                                             \
        before;                                                                                                        \
        result answer = dh_real.name arguments;                                                                        \
        after;                                                                                                         \
        return answer;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

#define DH_ROW_VOID(name, parameters, arguments, before)                                                               \
    static void dh_interposed_##name parameters                                                                        \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        dh_interpose_ready();                                                                                          \
        if (dh_access_wanted(slot)) {                                                                                  \
            before;                                                                                                    \
        }                                                                                                              \
        dh_real.name arguments;                                                                                        \
    }                                                                                                                  \
    DH_INTERPOSE(name);

#endif
