/* The link command of a program, embedded in it, so that a variant can be linked from the executable alone. Layer:
 * driver. One item stands for all merged inputs; native objects and files that the linker read are embedded; shared
 * libraries and the toolchain's start files are named by path. */
#ifndef DH_DRIVER_LINK_RECIPE_H
#define DH_DRIVER_LINK_RECIPE_H

#include "base/vec.h"
#include "driver/link_line.h"
#include "host/err.h"
#include "host/file.h"

enum dh_link_recipe_kind {
    DH_RECIPE_OPTION,      /* text, as it is */
    DH_RECIPE_MERGED,      /* the instrumented objects go here */
    DH_RECIPE_OBJECT,      /* native-only object; text = name for people, bytes */
    DH_RECIPE_LAZY_OBJECT, /* the same, linked only if needed, as from an archive */
    DH_RECIPE_LIBRARY,     /* -l text */
    DH_RECIPE_PATH,        /* a file of the system, by absolute path */
    DH_RECIPE_SEARCH_PATH, /* -L text, absolute */
    DH_RECIPE_FILE_OPTION  /* option `option` with a file of these bytes */
};

struct dh_link_recipe_item {
    enum dh_link_recipe_kind kind;
    char *text, *option;
    struct dh_bytes bytes; /* owned */
};

struct dh_link_recipe {
    DH_VEC(struct dh_link_recipe_item) items;
    enum dh_link_output output;
    char level; /* of the whole program */
    bool asan;
    uint8_t degree; /* dh_degree (event/plan.h): default of its variants */
    bool no_arrays, no_copies;
};

void dh_link_recipe_add(struct dh_link_recipe *r, enum dh_link_recipe_kind kind, const char *text, const char *option,
                        const void *bytes, size_t n);
void dh_link_recipe_release(struct dh_link_recipe *r);
struct dh_bytes dh_link_recipe_write(const struct dh_link_recipe *r);
bool dh_link_recipe_read(struct dh_link_recipe *r, const void *bytes, size_t n, struct dh_err *err);

/* The linker's command line: embedded objects and files are written to `folder`; `merged` are the instrumented objects;
 * $ORIGIN in run paths becomes `origin` if that is set, because a variant lies in the cache. */
bool dh_link_recipe_command(const struct dh_link_recipe *r, const char *folder, const struct dh_argv *merged,
                            const char *origin, struct dh_argv *out, struct dh_err *err);

#endif
