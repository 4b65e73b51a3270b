/* What the source says about its own synchronisation, between the files that honour it. Layer: runtime. Outside
 * enter/leave; everything does nothing while no detector looks at the thread. */
#ifndef DH_RUNTIME_ANNOTATIONS_ANNOTATIONS_H
#define DH_RUNTIME_ANNOTATIONS_ANNOTATIONS_H

#include "runtime/report/report.h"

/* Names that programs call. Weak: a program may bring its own. */
#define DH_ANNOTATION __attribute__((weak, visibility("default")))

/* The call in *call_slot contradicts what the source said; `text` says how, and lives as long as the process. */
void dh_annotation_broken(enum dh_finding_kind kind, const void *at, size_t size, uint32_t flags, const char *text,
                          const uintptr_t *call_slot);

#endif
