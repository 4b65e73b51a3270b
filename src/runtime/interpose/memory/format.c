/* Formatted text written to memory. What the arguments point to is read by libc and not checked. */
#include "runtime/interpose/rows.h"

/* Floating point numbers come in vector registers, which the rest of the runtime leaves alone. */
#ifdef __clang__
#define VECTORS __attribute__((target("sse,sse2")))
#else
#pragma GCC target("sse2")
#define VECTORS
#endif

/* Of a text of `length` characters, what fits into n. */
static void written(char *to, size_t n, int length, const uintptr_t *slot)
{
    if (length >= 0 && n)
        W(to, (size_t)length < n ? (size_t)length + 1 : n);
}

#define FORMATS(name, parameters, arguments, n)                                                                        \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int length = dh_real.name arguments;                                                                           \
        written(to, n, length, DH_CALL_SLOT);                                                                          \
        return length;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

#define TO char *restrict to
#define FORMAT const char *restrict format

FORMATS(vsprintf, (TO, FORMAT, va_list list), (to, format, list), SIZE_MAX)
FORMATS(vsnprintf, (TO, size_t n, FORMAT, va_list list), (to, n, format, list), n)
FORMATS(__vsprintf_chk, (TO, int flag, size_t room, FORMAT, va_list list), (to, flag, room, format, list), SIZE_MAX)
FORMATS(__vsnprintf_chk, (TO, size_t n, int flag, size_t room, FORMAT, va_list list), (to, n, flag, room, format, list),
        n)

#define FORMATS_LIST(name, parameters, call, n)                                                                        \
    VECTORS static int dh_interposed_##name parameters                                                                 \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        dh_interpose_ready();                                                                                          \
        va_start(list, format);                                                                                        \
        int length = call;                                                                                             \
        va_end(list);                                                                                                  \
        written(to, n, length, DH_CALL_SLOT);                                                                          \
        return length;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

FORMATS_LIST(sprintf, (TO, FORMAT, ...), dh_real.vsprintf(to, format, list), SIZE_MAX)
FORMATS_LIST(snprintf, (TO, size_t n, FORMAT, ...), dh_real.vsnprintf(to, n, format, list), n)
FORMATS_LIST(__sprintf_chk, (TO, int flag, size_t room, FORMAT, ...),
             dh_real.__vsprintf_chk(to, flag, room, format, list), SIZE_MAX)
FORMATS_LIST(__snprintf_chk, (TO, size_t n, int flag, size_t room, FORMAT, ...),
             dh_real.__vsnprintf_chk(to, n, flag, room, format, list), n)
