#include "cmd/sites_print.h"

#include "analysis/race_free_proofs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const flag_names[] = {"volatile", "vector", "bitfield", "element",    "pointer",
                                         "local",    "global", "tls",      "artificial", "size-varies"};
static const char *const order_names[] = {"", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};

static const char *order_name(unsigned order)
{
    return order < sizeof order_names / sizeof *order_names ? order_names[order] : "";
}

static void print_place(FILE *out, const struct dh_site_table *t, uint32_t file, uint32_t line, uint32_t column)
{
    const char *name = dh_site_string(t, file);
    fprintf(out, "%s:%u:%u", *name ? name : "<unknown>", line, column);
}

static void print_row(FILE *out, const struct dh_site_table *t, const struct dh_site *s)
{
    const char *variable = dh_site_string(t, s->variable), *type = dh_site_string(t, s->type);
    const char *callee = dh_site_string(t, s->callee);
    print_place(out, t, s->file, s->line, s->column);
    fprintf(out, ": %s", dh_op_info(s->op)->name);
    if (s->order)
        fprintf(out, " %s", order_name(s->order));
    if (s->flags & DH_SITE_SIZE_VARIES)
        fputs(" *", out);
    else if (s->size)
        fprintf(out, " %u", s->size);
    if (*variable)
        fprintf(out, " %s", variable);
    if (*type)
        fprintf(out, " (%s)", type);
    if (s->source)
        fprintf(out, " from %s", dh_site_string(t, s->source));
    if (*callee)
        fprintf(out, " by %s", callee);
    fprintf(out, " in %s  [%s]\n", dh_site_string(t, s->function), dh_site_string(t, s->name));
    for (uint32_t c = s->inlined; c < t->n_chains; c = t->chains[c].next) {
        const struct dh_chain *link = &t->chains[c];
        fputs("    inlined at ", out);
        print_place(out, t, link->file, link->line, link->column);
        fprintf(out, " in %s\n", dh_site_string(t, link->function));
    }
}

void dh_sites_print_text(FILE *out, const struct dh_site_table *t)
{
    for (uint32_t i = 0; i < t->n_sites; i++)
        print_row(out, t, &t->sites[i]);
}

static void print_names(FILE *out, const struct dh_site_table *sites, const uint32_t *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? ", " : "", dh_site_string(sites, names[i]));
}

static void print_scope(FILE *out, const struct dh_site_table *sites, const struct dh_scope_row *r,
                        const uint32_t *names)
{
    if (r->site < sites->n_sites) {
        const struct dh_site *s = &sites->sites[r->site];
        print_place(out, sites, s->file, s->line, s->column);
        fprintf(out, ": section of %s in %s", dh_site_string(sites, s->variable), dh_site_string(sites, s->function));
    } else
        fprintf(out, "%s:%u:%u: section begun by a call", dh_site_string(sites, r->function), r->line, r->column);
    fputs(" reads {", out);
    print_names(out, sites, names + r->first, r->reads);
    fputs("} writes {", out);
    print_names(out, sites, names + r->first + r->reads, r->writes);
    fputs("}\n", out);
}

static void print_site(FILE *out, const struct dh_site_table *t, uint32_t site)
{
    if (site >= t->n_sites)
        return;
    const struct dh_site *s = &t->sites[site];
    print_place(out, t, s->file, s->line, s->column);
    fprintf(out, ": %s of %s", dh_op_info(s->op)->name, dh_site_string(t, s->variable));
}

/* Reads that decide over nothing but branches of their own function would be most of the list. */
static void print_flow(FILE *out, const struct dh_site_table *sites, const struct dh_flow_row *r)
{
    bool write = r->read < sites->n_sites && sites->sites[r->read].op == DH_OP_WRITE; /* said of its read as well */
    if (r->lock == DH_NO_SITE ? !(r->how & (DH_FLOW_UPDATES | DH_FLOW_CHECKS)) : write)
        return;
    print_site(out, sites, r->read);
    if (r->lock == DH_NO_SITE) {
        fputs(r->how & DH_FLOW_UPDATES ? " is a step of an update\n" : " is a step of a check and what follows\n", out);
        return;
    }
    if (r->how & DH_FLOW_WAITS) {
        fputs(" begins a section that may come to ", out);
        print_site(out, sites, r->lock);
        fputs(r->how & DH_FLOW_NOBODY_SIGNALS ? ", which nobody signals\n" : "\n", out);
        return;
    }
    fputs(r->how & DH_FLOW_DATA ? " is used in the section at " : " decides over the section at ", out);
    print_site(out, sites, r->lock);
    fputs("\n", out);
}

void dh_scopes_print_text(FILE *out, const struct dh_scope_table *t, const struct dh_site_table *sites)
{
    for (uint32_t i = 0; i < t->n_rows; i++)
        print_scope(out, sites, &t->rows[i], t->names);
    for (uint32_t i = 0; i < t->n_flows; i++)
        print_flow(out, sites, &t->flows[i]);
}

/* Names from object files need not be UTF-8, which JSON must be: other bytes become '?'. */
static json_t *text(const struct dh_site_table *t, uint32_t offset)
{
    const char *s = dh_site_string(t, offset);
    json_t *j = json_string(s);
    if (j)
        return j;
    char *copy = strdup(s);
    if (!copy)
        return json_null();
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    j = json_string(copy);
    free(copy);
    return j;
}

static json_t *flags_json(unsigned flags)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if (flags & 1u << i)
            json_array_append_new(list, json_string(flag_names[i]));
    return list;
}

static json_t *chain_json(const struct dh_site_table *t, uint32_t chain)
{
    json_t *list = json_array();
    for (uint32_t c = chain; c < t->n_chains; c = t->chains[c].next) {
        const struct dh_chain *link = &t->chains[c];
        json_t *one = json_object();
        json_object_set_new(one, "function", text(t, link->function));
        json_object_set_new(one, "file", text(t, link->file));
        json_object_set_new(one, "line", json_integer(link->line));
        json_object_set_new(one, "column", json_integer(link->column));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *row_json(const struct dh_site_table *t, uint32_t id)
{
    const struct dh_site *s = &t->sites[id];
    const struct dh_op_info *op = dh_op_info(s->op);
    json_t *row = json_object();
    json_object_set_new(row, "id", json_integer(id));
    json_object_set_new(row, "name", text(t, s->name));
    json_object_set_new(row, "op", json_string(op->name));
    json_object_set_new(row, "group", json_string(dh_group_name(op->group)));
    json_object_set_new(row, "size", json_integer(s->size));
    json_object_set_new(row, "type", text(t, s->type));
    json_object_set_new(row, "variable", text(t, s->variable));
    json_object_set_new(row, "field", text(t, s->field));
    json_object_set_new(row, "expr", text(t, s->expr));
    json_object_set_new(row, "file", text(t, s->file));
    json_object_set_new(row, "line", json_integer(s->line));
    json_object_set_new(row, "column", json_integer(s->column));
    json_object_set_new(row, "function", text(t, s->function));
    json_object_set_new(row, "callee", text(t, s->callee));
    json_object_set_new(row, "source", text(t, s->source));
    json_object_set_new(row, "source_type", text(t, s->source_type));
    json_object_set_new(row, "order", json_string(order_name(s->order)));
    json_object_set_new(row, "flags", flags_json(s->flags));
    json_object_set_new(row, "inlined", chain_json(t, s->inlined));
    return row;
}

void dh_sites_print_json(FILE *out, const struct dh_site_table *t)
{
    fputs("{\"version\":1,\"sites\":[", out);
    for (uint32_t i = 0; i < t->n_sites; i++) {
        json_t *row = row_json(t, i);
        fputs(i ? ",\n" : "\n", out);
        json_dumpf(row, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
        json_decref(row);
    }
    fputs("\n]}\n", out);
}

static const char *word_of(unsigned safety)
{
    return safety & DH_PROVEN_PRIVATE     ? "private"
           : safety & DH_PROVEN_RACE_FREE ? "safe"
           : safety & DH_PROVEN_ORDERED   ? "ordered"
                                          : "watched";
}

static void print_copies(FILE *out, const struct dh_site_table *t, const struct dh_program_clones *c)
{
    for (uint32_t n = 0; n < c->n_marks; n++)
        if (c->marks[n].site < t->n_sites)
            fprintf(out, "in %u %s %s\n", c->marks[n].copy, word_of(c->marks[n].safety),
                    dh_site_string(t, t->sites[c->marks[n].site].name));
}

/* One line per plain access: word, stable name, place; at the end how many, or why nothing is known. */
void dh_sites_print_safe(FILE *out, const struct dh_site_table *t, const struct dh_sparse_proofs *facts)
{
    for (uint32_t i = 0; i < t->n_sites && i < facts->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        enum dh_group group = dh_op_info(s->op)->group;
        if (group != DH_GROUP_ACCESS && group != DH_GROUP_MEMORY)
            continue;
        fprintf(out, "%-8s %s  ", word_of(facts->of_site[i]), dh_site_string(t, s->name));
        print_place(out, t, s->file, s->line, s->column);
        fputs(facts->of_site[i] & (DH_PROVEN_PRIVATE | DH_PROVEN_CONSISTENT) ? "\n" : "  may be interleaved\n", out);
    }
    print_copies(out, t, &facts->copies);
    if (*facts->gave_up)
        fprintf(out, "nothing is proven: %s\n", facts->gave_up);
    else
        fprintf(out, "%u of %u accesses are proven safe, %u private; %u cannot be interleaved\n", facts->race,
                facts->accesses, facts->private, facts->consistent);
}
