/* Output formats of findings, one row each in formats.def: what --format chooses from. Layer: report. A document is
 * begun, gets its findings in turn, and is ended. */
#ifndef DH_REPORT_FORMATS_H
#define DH_REPORT_FORMATS_H

#include "base/str.h"
#include "finding/finding.h"

#include <stdbool.h>

struct dh_report_format {
    const char *name;
    bool is_prose; /* for people: commands may group findings and add lines of their own */
    void (*begin)(struct dh_str *out);
    void (*finding)(struct dh_str *out, size_t index, const struct dh_finding *f); /* index from 0 */
    void (*end)(struct dh_str *out);
    /* After the end: a further member of the document, a value of JSON; NULL: the format has none. */
    void (*member)(struct dh_str *out, const char *name, const char *json);
};

/* "text|json", for tables of options; the first is the default. */
extern const char dh_report_format_choice[];
extern const char dh_report_format_default[];
/* NULL: there is none of that name. */
const struct dh_report_format *dh_report_format_find(const char *name);

#define DH_REPORT_FORMAT(id, name) extern const struct dh_report_format dh_report_format_##id;
#define DH_REPORT_DEFAULT DH_REPORT_FORMAT
#include "report/formats.def"
#undef DH_REPORT_FORMAT
#undef DH_REPORT_DEFAULT

#endif
