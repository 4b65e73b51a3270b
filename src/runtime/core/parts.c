#include "runtime/core/parts.h"

enum { STARTS = DH_PART_STARTS, FORKED = DH_PART_FORKED, THREAD_ENDS = DH_PART_THREAD_ENDS };

void dh_parts_start(void)
{
#define PART(name, stages)                                                                                             \
    if ((stages) & STARTS)                                                                                             \
        dh_##name##_start();
#include "runtime/core/parts.def"
#undef PART
}

void dh_parts_forked(void)
{
#define PART(name, stages)                                                                                             \
    if ((stages) & FORKED)                                                                                             \
        dh_##name##_forked();
#include "runtime/core/parts.def"
#undef PART
}

void dh_parts_thread_ends(void)
{
#define PART(name, stages)                                                                                             \
    if ((stages) & THREAD_ENDS)                                                                                        \
        dh_##name##_thread_ends();
#include "runtime/core/parts.def"
#undef PART
}

void dh_parts_at_exit(void)
{
#define AT_EXIT(name) dh_##name##_at_exit();
#include "runtime/core/at_exit.def"
#undef AT_EXIT
}
