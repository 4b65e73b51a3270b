/* What the parts of the runtime (parts.def) implement. Layer: runtime. */
#ifndef DH_RUNTIME_CORE_PARTS_H
#define DH_RUNTIME_CORE_PARTS_H

enum dh_part_stage { DH_PART_STARTS = 1 << 0, DH_PART_FORKED = 1 << 1, DH_PART_THREAD_ENDS = 1 << 2 };

#define PART(name, stages)                                                                                             \
    void dh_##name##_start(void);                                                                                      \
    void dh_##name##_forked(void);                                                                                     \
    void dh_##name##_thread_ends(void);
#include "runtime/core/parts.def"
#undef PART

#define AT_EXIT(name) void dh_##name##_at_exit(void);
#include "runtime/core/at_exit.def"
#undef AT_EXIT

/* Calls the parts that have the stage, in the order of the table. */
void dh_parts_start(void);
void dh_parts_forked(void);
void dh_parts_thread_ends(void);
void dh_parts_at_exit(void);

#endif
