#include "report/formats.h"

#include <string.h>

#define DH_REPORT_DEFAULT(id, name) name
#define DH_REPORT_FORMAT(id, name) "|" name
const char dh_report_format_choice[] =
#include "report/formats.def"
    ;
#undef DH_REPORT_FORMAT
#define DH_REPORT_FORMAT(id, name)
const char dh_report_format_default[] =
#include "report/formats.def"
    ;
#undef DH_REPORT_FORMAT
#undef DH_REPORT_DEFAULT

static const struct dh_report_format *const formats[] = {
#define DH_REPORT_FORMAT(id, name) &dh_report_format_##id,
#define DH_REPORT_DEFAULT DH_REPORT_FORMAT
#include "report/formats.def"
#undef DH_REPORT_FORMAT
#undef DH_REPORT_DEFAULT
};

const struct dh_report_format *dh_report_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
