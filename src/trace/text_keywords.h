/* Keywords of text traces. Layer: trace; text.c and text_print.c only. */
#ifndef DH_TRACE_TEXT_KEYWORDS_H
#define DH_TRACE_TEXT_KEYWORDS_H

#include "event/event.h"
#include "event/site.h"

#include <stddef.h>

struct dh_text_keyword {
    const char *name;
    unsigned value;
};

/* Each ends with name == NULL. */
extern const struct dh_text_keyword dh_text_flags[], dh_text_orders[], dh_text_ops[], dh_text_classes[],
    dh_text_regions[];
/* op= of an atomic that did not write */
#define DH_TEXT_CAS_FAILED 0x100u

/* What OBJECT of a line is. */
enum dh_text_object { DH_OBJECT_NONE, DH_OBJECT_MEMORY, DH_OBJECT_MAYBE, DH_OBJECT_THREAD, DH_OBJECT_MAYBE_THREAD };
enum dh_text_object dh_text_object_of(unsigned kind);
/* The op of a place where such an event happens. */
unsigned dh_text_op_of(const struct dh_event *e);

const char *dh_text_keyword_of(const struct dh_text_keyword *words, unsigned value);

#endif
