/* The modules of a checked program with their tables of sites, places and critical sections, and symbols. Layer:
 * finding. The set owns them. */
#ifndef DH_FINDING_MODULES_H
#define DH_FINDING_MODULES_H

#include "event/place_table.h"
#include "event/scope_table.h"
#include "event/site.h"
#include "finding/finding.h"
#include "host/symbolize.h"

struct dh_known_module;
struct dh_modules;

struct dh_modules *dh_modules_new(void);
void dh_modules_free(struct dh_modules *s);
/* Opens or finds; never NULL. With an `id` that is not zero, a file that was built again since is not read. */
struct dh_known_module *dh_modules_get(struct dh_modules *s, const char *path, const uint8_t id[16]);
/* NULL when it has no sites. */
const struct dh_site_table *dh_known_sites(const struct dh_known_module *m);
const struct dh_place_table *dh_known_places(const struct dh_known_module *m);
const struct dh_scope_table *dh_known_scopes(const struct dh_known_module *m);

/* Adds the frames of a return address, inlined calls included; at least one. */
void dh_known_frames(struct dh_modules *s, struct dh_known_module *m, uint64_t offset, struct dh_finding_stack *out);
bool dh_known_variable(struct dh_modules *s, struct dh_known_module *m, uint64_t offset,
                       struct dh_source_variable *out);
/* The extent of the global variable around an address of the file. */
bool dh_known_variable_extent(struct dh_modules *s, struct dh_known_module *m, uint64_t offset, uint64_t *at,
                              uint64_t *size);
/* A module without a file, for traces that name sites themselves. Putting it again replaces it. */
struct dh_virtual_module {
    struct dh_site_table sites; /* its places are the rows; the caller keeps the bytes */
    /* The name of the variable at an address or "", owned by the caller; may be NULL. */
    char *(*name)(void *arg, uint64_t address);
    void *arg;
};
void dh_modules_put_virtual(struct dh_modules *s, const char *path, const struct dh_virtual_module *made);

/* The path without the directory it was compiled in, as the compiler was called, and without "x/..". Owned by the
 * caller. */
char *dh_path_as_compiled(const char *file, const char *directory);

#endif
