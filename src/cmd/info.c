/* deadheat info: what a program built with deadheat carries. Never runs it. */
#include "base/str.h"
#include "cmd/command.h"
#include "driver/derive.h"
#include "driver/libraries.h"
#include "driver/sparse.h"
#include "event/site.h"
#include "image/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_units(const char *text, const char *kind, const char *label, bool all)
{
    size_t count = 0, n_kind = strlen(kind);
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        count += strncmp(at, kind, n_kind) == 0;
    printf("%-22s %zu\n", label, count);
    for (const char *at = text; all && *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, kind, n_kind) == 0)
            printf("  %.*s\n", (int)(strcspn(at, "\n") - n_kind), at + n_kind);
}

static bool show_units(const struct dh_container *c, bool all, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_container_read(c, DH_PART_UNITS, &b, err))
        return false;
    char *text = dh_format("%.*s", (int)b.n, (const char *)b.at);
    print_units(text, "merged ", "modules", all);
    print_units(text, "native ", "without bitcode", true);
    print_units(text, "mixed ", "mixed, uninstrumented", true);
    print_units(text, "thread ", "thread entries", true);
    free(text);
    dh_bytes_release(&b);
    return true;
}

static bool show_sites(const struct dh_container *c, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_site_table t;
    const char *why;
    size_t groups[DH_GROUP_COUNT] = {0};
    if (!dh_container_read(c, DH_PART_SITES, &b, err))
        return false;
    bool ok = dh_site_table_read(&t, b.at, b.n, &why) || dh_err_set(err, "%s; build it again", why);
    for (uint32_t i = 0; ok && i < t.n_sites; i++)
        groups[dh_op_info(t.sites[i].op)->group]++;
    if (ok)
        printf("%-22s %u\n", "sites", t.n_sites);
    for (int g = 0; ok && g < DH_GROUP_COUNT; g++)
        if (groups[g])
            printf("  %-20s %zu\n", dh_group_name((enum dh_group)g), groups[g]);
    dh_bytes_release(&b);
    return ok;
}

/* Functions that have copies for contexts in which less need be watched. */
static void show_copies(const struct dh_program_clones *c)
{
    uint32_t functions = 0, most = 0;
    for (uint32_t n = 0; n < c->n; n++) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < n; k++)
            before += c->functions[k] == c->functions[n];
        functions += !before;
        most = before >= most ? before + 1 : most;
    }
    printf("%-22s %u of %u functions, %u copies, at most %u of one; %u accesses need less there; %u instructions more "
           "than %u\n",
           "specialised", functions, c->n_functions, c->n, most, c->n_marks, c->added, c->size);
}

/* How many accesses need no check, or why that is not known. */
static bool show_safe(const struct dh_container *c, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_sparse_proofs f;
    if (!dh_container_find(c, DH_PART_SAFE))
        return true;
    if (!dh_container_read(c, DH_PART_SAFE, &b, err))
        return false;
    if (!dh_sparse_read(&b, &f))
        printf("%-22s not known: damaged\n", "proven safe");
    else if (*f.gave_up)
        printf("%-22s nothing: %s\n", "proven safe", f.gave_up);
    else {
        printf("%-22s %u of %u accesses (%.1f%%), %u private; %u not interleaved\n", "proven safe", f.race, f.accesses,
               f.accesses ? 100.0 * f.race / f.accesses : 0, f.private, f.consistent);
        show_copies(&f.copies);
    }
    dh_bytes_release(&b);
    return true;
}

static void show_parts(const struct dh_container *c)
{
    printf("%-22s %zu bytes\n", "embedded", c->section.n);
    for (size_t i = 0; i < c->parts.n; i++)
        printf("  %-20.8s %llu bytes (%llu unpacked)\n", c->parts.at[i].name, (unsigned long long)c->parts.at[i].stored,
               (unsigned long long)c->parts.at[i].raw);
}

static void show_library(void *arg, const char *name, const char *path, bool instrumented)
{
    size_t *hidden = arg;
    if (instrumented)
        printf("  %-20s instrumented  %s\n", name, path);
    else if (path)
        printf("  %-20s uninstrumented  %s\n", name, path);
    else
        printf("  %-20s not found\n", name);
    *hidden += !instrumented;
}

static void show_nothing(void *arg, const char *name, const char *path, bool instrumented)
{
    (void)arg, (void)name, (void)path, (void)instrumented;
}

static void show_variant(void *arg, const char *plan, const char *path, long long bytes)
{
    size_t *n = arg;
    if (!(*n)++)
        printf("cached variants\n");
    printf("  %-20s %lld bytes  %s\n", plan, bytes, path);
}

static int show(const struct dh_parsed *p, const char *path)
{
    bool all = dh_option_given(p, "all");
    struct dh_err err = {0};
    struct dh_container c;
    if (!dh_container_open(&c, path, &err))
        return dh_fail(&err, DH_EXIT_USAGE);
    char id[33];
    dh_id_text(&c.id, id);
    /* What is damaged is noticed before the first line is printed. */
    bool ok = dh_container_check(&c, &err) && dh_libraries_each(path, show_nothing, NULL, &err);
    if (ok)
        printf("%-22s %s\n%-22s %s\n%-22s %s\n", "program", path, "build id", id, "variant", c.variant);
    ok = ok && show_units(&c, all, &err) && show_sites(&c, &err) && show_safe(&c, &err);
    if (ok) {
        show_parts(&c);
        size_t uninstrumented = 0, variants = 0;
        printf("shared libraries\n");
        ok = dh_libraries_each(path, show_library, &uninstrumented, &err);
        dh_variants_each_cached(&c.id, show_variant, &variants);
        if (!variants)
            printf("%-22s none\n", "cached variants");
    }
    dh_container_release(&c);
    if (ok)
        return DH_EXIT_OK;
    dh_err_while(&err, "reading %s", path);
    return dh_fail(&err, DH_EXIT_FAILURE);
}

static int run_info(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_file(self, argc, argv, show);
}

static const struct dh_option options[] = {{"all", DH_OPTION_FLAG, NULL, NULL, "list every merged source file, too"},
                                           {0}};

const struct dh_command dh_command_info = {
    .name = "info",
    .usage = "[--all] PROG",
    .summary = "what a program carries: modules, sites, libraries, variants",
    .description =
        "Shows build id, merged modules, objects without bitcode, thread entry functions, sites by kind, sizes,\n"
        "the shared libraries the program loads and which of them are instrumented, and the variants in the\n"
        "cache. The program is not run.",
    .examples = "  deadheat info bank\n",
    .options = options,
    .run = run_info,
};
