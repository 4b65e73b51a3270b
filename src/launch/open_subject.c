#include "launch/open_subject.h"

#include "driver/library_variants.h"
#include "launch/launch.h"
#include "launch/look_for_opened.h"

#include <stdlib.h>

static bool open_once(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                      struct dh_err *err)
{
    struct dh_launch l = {.command = command, .plan = plan, .detect = "none", .argv = argv};
    struct dh_library_variants libraries = {0};
    char *program, *variant = dh_launch_variant(&l, &program, err);
    if (!variant)
        return false;
    bool ok = dh_library_variants_derive(&libraries, program, plan, err);
    if (ok && !dh_subject_open(s, program, variant, libraries.files.at, argv, input, err)) {
        dh_subject_release(s);
        err->is_usage = true;
        ok = false;
    }
    dh_library_variants_release(&libraries);
    free(variant);
    free(program);
    return ok;
}

/* Libraries that it opens by itself may open others. */
bool dh_open_subject(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                     struct dh_err *err)
{
    if (!open_once(plan, command, argv, input, s, err))
        return false;
    if (!dh_look_for_opened_libraries(s))
        return true;
    dh_subject_release(s);
    return open_once(plan, command, argv, input, s, err);
}
