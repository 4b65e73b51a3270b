/* JSON strings of names that need not be UTF-8. Layer: finding (jansson). */
#ifndef DH_FINDING_JSON_TEXT_H
#define DH_FINDING_JSON_TEXT_H

#include "base/str.h"

#include <jansson.h>
#include <stdlib.h>

static inline json_t *dh_json_text(const char *text)
{
    json_t *j = json_string(text);
    if (j)
        return j;
    char *clean = dh_strdup(text);
    for (char *c = clean; *c; c++)
        if ((unsigned char)*c >= 128)
            *c = '?';
    j = json_string(clean);
    free(clean);
    return j;
}

/* Its text on one line, owned by the caller; takes `o`. */
static inline char *dh_json_take(json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    if (!text)
        abort();
    return text;
}

#endif
