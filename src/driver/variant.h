/* Instruments a module with numbered sites for a plan, generates code and links it: the program of `deadheat cc` and
 * every variant derived later. Layer: driver (LLVM). Run it in a child. */
#ifndef DH_DRIVER_VARIANT_H
#define DH_DRIVER_VARIANT_H

#include "driver/link_recipe.h"
#include "driver/plan_name.h"
#include "event/plan.h"
#include "event/site.h"
#include "image/container.h"

#include <llvm-c/Core.h>

struct dh_variant {
    LLVMModuleRef module; /* with numbered sites; instrumented in place */
    struct dh_site_builder *sites;
    const struct dh_link_recipe *recipe;
    const struct dh_plan *plan;
    const char *name;   /* "race", "engine", "stale", ... as --plan says */
    struct dh_id id;    /* of the program */
    const char *folder; /* for temporary files */
    const char *origin; /* see dh_link_recipe_command; NULL for the first link */
    const char *output;
    const struct dh_bytes *container; /* section to embed, or NULL */
    bool is_large;                    /* set by dh_variant_instrument: worth keeping in pieces */
    bool is_quick;                    /* likewise: code generation takes as little time as it can */
};

/* dh_variant_compile in two halves: hooks, then code. The table of places goes to `places`. */
bool dh_variant_instrument(struct dh_variant *v, struct dh_bytes *places, struct dh_err *err);
bool dh_variant_generate(struct dh_variant *v, struct dh_argv *objects, struct dh_err *err);

/* Instruments and generates code; the objects' paths are added to `objects`, the table of places to `places`. */
bool dh_variant_compile(struct dh_variant *v, struct dh_argv *objects, struct dh_bytes *places, struct dh_err *err);
/* Links objects, native parts, runtime and container into v->output, atomically. */
bool dh_variant_link(struct dh_variant *v, const struct dh_argv *objects, struct dh_err *err);

#endif
