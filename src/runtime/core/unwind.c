#include "runtime/core/unwind.h"

#include <stdbool.h>
#include <unwind.h>

extern __typeof__(_Unwind_Backtrace) _Unwind_Backtrace __attribute__((weak));
extern __typeof__(_Unwind_GetCFA) _Unwind_GetCFA __attribute__((weak));
extern __typeof__(_Unwind_GetIP) _Unwind_GetIP __attribute__((weak));

struct walk {
    uintptr_t first, end;
    uintptr_t *out;
    size_t n, max;
    bool begun, ended;
};

/* The canonical frame address an unwinder gives here is the callee's, right above the return address it took. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
    struct walk *w = data;
    uintptr_t at = _Unwind_GetCFA(context) - sizeof(uintptr_t);
    w->begun |= at == w->first;
    if (!w->begun)
        return _URC_NO_REASON;
    w->ended = at == w->end;
    if (w->ended || w->n == w->max)
        return _URC_END_OF_STACK;
    w->out[w->n++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

size_t dh_unwind(uintptr_t first, uintptr_t end, uintptr_t *out, size_t max)
{
    struct walk w = {.first = first, .end = end, .out = out, .max = max};
    if (!_Unwind_Backtrace || !_Unwind_GetCFA || !_Unwind_GetIP)
        return 0;
    _Unwind_Backtrace(step, &w);
    return w.ended || !end ? w.n : 0;
}
