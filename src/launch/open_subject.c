#include "launch/open_subject.h"

#include "launch/launch.h"

#include <stdlib.h>

bool dh_open_subject(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                     struct dh_err *err)
{
    struct dh_launch l = {.command = command, .plan = plan, .detect = "none", .argv = argv};
    char *program, *variant = dh_launch_variant(&l, &program, err);
    if (!variant)
        return false;
    bool ok = dh_subject_open(s, program, variant, argv, input, err);
    if (!ok) {
        dh_subject_release(s);
        err->is_usage = true;
    }
    free(variant);
    free(program);
    return ok;
}
