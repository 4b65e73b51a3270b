#include "launch/open_subject.h"

#include "base/str.h"
#include "driver/derive.h"
#include "driver/library_variants.h"
#include "launch/launch.h"
#include "launch/look_for_opened.h"

#include <stdlib.h>
#include <string.h>

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
    if (ok)
        s->plan = dh_strdup(plan);
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

#define PATIENCE_NS 60000000000ull

/* Another program's: its places are searched, in runs of the one that was named. */
static bool open_child(struct dh_subject *s, const struct dh_child_process *c, struct dh_err *err)
{
    struct dh_subject child = {.start = {0}};
    struct dh_library_variants libraries = {0};
    char *variant = dh_variant_derive(c->program, s->plan, err);
    if (!variant || !dh_library_variants_derive(&libraries, c->program, s->plan, err)) {
        free(variant);
        return dh_err_while(err, "following the child process %s", c->command);
    }
    bool ok = dh_subject_open(&child, c->program, variant, libraries.files.at, s->start.argv, s->start.input, err);
    dh_library_variants_release(&libraries);
    free(variant);
    if (!ok) {
        dh_subject_release(&child);
        return false;
    }
    child.start.environment = s->start.environment;
    child.start.through = s->start.through;
    child.start.command = dh_strdup(s->start.command ? s->start.command : s->start.variant);
    child.plan = dh_strdup(s->plan);
    child.children = s->children;
    s->children = (struct dh_children){0};
    free(child.called);
    child.called = dh_strdup(s->called);
    dh_subject_release(s);
    *s = child;
    return true;
}

bool dh_follow_child(struct dh_subject *s, const struct dh_child_process *c, struct dh_err *err)
{
    if (strcmp(c->build, s->build) != 0 && !open_child(s, c, err))
        return false;
    s->start.follow = c->identity;
    free(s->child);
    s->child = dh_strdup(s->program);
    return true;
}

static bool find_children(struct dh_subject *s, struct dh_err *err)
{
    struct dh_engine_request w = {.job = {.follow = DH_ENGINE_NOBODY, .time_max_ns = PATIENCE_NS},
                                  .output = DH_OUTPUT_DISCARDED};
    struct dh_engine_process *p = dh_engine_process_start(&s->start, &w, err);
    if (!p)
        return false;
    dh_engine_process_wait(p, PATIENCE_NS);
    dh_children_read(&s->children, dh_engine_process_region(p));
    dh_engine_process_free(p);
    return true;
}

bool dh_follow_named_child(struct dh_subject *s, const char *what, struct dh_err *err)
{
    if (!find_children(s, err))
        return false;
    const struct dh_child_process *c = dh_children_find(&s->children, what);
    if (c) {
        bool ok = dh_follow_child(s, c, err);
        dh_children_release(&s->children);
        return ok;
    }
    struct dh_str all = {0};
    for (size_t i = 0; i < s->children.at.n; i++)
        dh_str_addf(&all, "%s%u (%s)", i ? ", " : "; there are ", s->children.at.at[i].number,
                    s->children.at.at[i].command);
    dh_err_usage(err, "no child process '%s' of %s makes threads%s", what, s->called, all.at ? all.at : "");
    dh_str_release(&all);
    return false;
}
