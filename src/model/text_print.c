/* Printer of the text form. */
#include "model/text.h"
#include "model/text_words.h"

#include <inttypes.h>
#include <string.h>

static bool is_plain(const char *text)
{
    return *text && !text[strcspn(text, " \t\n\"\\#=:()+,")];
}

static void add_name(struct dh_str *out, const char *text)
{
    if (is_plain(text)) {
        dh_str_add(out, text);
        return;
    }
    dh_str_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            dh_str_add(out, "\\");
        if (*text == '\n')
            dh_str_add(out, "\\n");
        else
            dh_str_add_n(out, text, 1);
    }
    dh_str_add(out, "\"");
}

static void add_text(struct dh_str *out, const struct dh_program *p, const char *key, uint32_t string)
{
    if (!string)
        return;
    dh_str_addf(out, " %s=", key);
    add_name(out, dh_program_string(p, string));
}

static void add_flags(struct dh_str *out, const struct dh_text_word *table, uint32_t flags)
{
    for (; table->word; table++)
        if (flags & table->value)
            dh_str_addf(out, " %s", table->word);
}

static void add_number(struct dh_str *out, const char *key, uint64_t number)
{
    if (number)
        dh_str_addf(out, " %s=%" PRIu64, key, number);
}

static void print_value(const struct dh_program *p, dh_value v, struct dh_str *out)
{
    if (dh_is_register(v)) {
        dh_str_addf(out, "r%u", v);
        return;
    }
    const struct dh_constant *c = dh_program_constant(p, v);
    switch (c->kind) {
    case DH_CONST_INT:
        dh_str_addf(out, "%" PRId64, c->number);
        break;
    case DH_CONST_GLOBAL:
        dh_str_add(out, "&");
        add_name(out, dh_program_string(p, p->globals.at[c->index].name));
        if (c->number)
            dh_str_addf(out, "%+" PRId64, c->number);
        break;
    case DH_CONST_FUNCTION:
        dh_str_add(out, "@");
        add_name(out, dh_program_string(p, p->functions.at[c->index].name));
        break;
    case DH_CONST_UNKNOWN:
        dh_str_add(out, "unknown");
        break;
    default:
        dh_str_add(out, "data");
        break;
    }
}

static void add_extra(struct dh_str *out, const struct dh_program *p, const struct dh_inst *i)
{
    const struct dh_text_extra *e = dh_text_extra(i->op);
    if (!e)
        return;
    if (e->table)
        dh_str_addf(out, " %s=%s", e->key, dh_text_word_of(e->table, i->extra));
    else if (e->string)
        add_text(out, p, e->key, i->extra);
    else
        add_number(out, e->key, i->extra);
}

static void add_place(struct dh_str *out, const struct dh_program *p, uint32_t place)
{
    if (!place)
        return;
    const struct dh_source_location *at = &p->places.at[place];
    add_text(out, p, "file", at->file);
    add_number(out, "line", at->line);
    add_number(out, "column", at->column);
    add_text(out, p, "in", at->function);
    add_text(out, p, "variable", at->variable);
    add_text(out, p, "type", at->type);
}

static void add_operands(struct dh_str *out, const struct dh_program *p, const struct dh_inst *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++) {
        dh_str_add(out, " ");
        if (i->op == DH_I_PHI && k % 2)
            dh_str_addf(out, "b%u", dh_operand(p, i, k));
        else
            print_value(p, dh_operand(p, i, k), out);
    }
}

void dh_inst_print(const struct dh_program *p, const struct dh_inst *i, struct dh_str *out)
{
    dh_str_add(out, dh_inst_info(i->op)->word);
    add_operands(out, p, i);
    if (i->offset)
        dh_str_addf(out, " offset=%" PRId64, i->offset);
    add_number(out, "size", i->size);
    add_extra(out, p, i);
    if (i->order)
        dh_str_addf(out, " order=%s", dh_text_word_of(dh_text_words_order, i->order));
    add_flags(out, dh_text_words_inst_flags, i->flags);
    if (i->site != DH_NO_SITE)
        dh_str_addf(out, " site=%u", i->site);
    add_place(out, p, i->place);
}

static void print_block(const struct dh_program *p, const struct dh_function *f, uint32_t number, struct dh_str *out)
{
    const struct dh_basic_block *b = &p->blocks.at[f->block + number];
    dh_str_addf(out, "b%u", number);
    for (uint32_t s = 0; s < b->n_succs; s++)
        dh_str_addf(out, "%s b%u", s ? "" : " ->", dh_successors(p, b)[s] - f->block);
    dh_str_add(out, "\n");
    for (uint32_t k = 0; k < b->n_insts; k++) {
        const struct dh_inst *i = &p->insts.at[b->inst + k];
        dh_str_add(out, "    ");
        if (i->result != DH_NONE)
            dh_str_addf(out, "r%u:%s = ", i->result,
                        dh_text_word_of(dh_text_words_kinds, p->registers.at[f->registers + i->result]));
        dh_inst_print(p, i, out);
        dh_str_add(out, "\n");
    }
}

static void print_function(const struct dh_program *p, const struct dh_function *f, struct dh_str *out)
{
    dh_str_add(out, "\nfunction ");
    add_name(out, dh_program_string(p, f->name));
    for (uint32_t k = 0; k < f->n_params; k++)
        dh_str_addf(out, " r%u:%s", k,
                    dh_text_word_of(dh_text_words_kinds, f->n_blocks ? p->registers.at[f->registers + k] : 0));
    add_flags(out, dh_text_words_function_flags, f->flags);
    add_text(out, p, "source", f->source);
    add_text(out, p, "file", f->file);
    add_number(out, "line", f->line);
    add_number(out, "signature", f->signature);
    if (f->site != DH_NO_SITE)
        dh_str_addf(out, " site=%u", f->site);
    dh_str_add(out, "\n");
    for (uint32_t b = 0; b < f->n_blocks; b++)
        print_block(p, f, b, out);
}

static void print_global(const struct dh_program *p, const struct dh_global *g, struct dh_str *out)
{
    dh_str_add(out, "global ");
    add_name(out, dh_program_string(p, g->name));
    add_number(out, "size", g->size);
    add_flags(out, dh_text_words_global_flags, g->flags);
    add_text(out, p, "source", g->source);
    add_text(out, p, "type", g->type);
    add_text(out, p, "file", g->file);
    add_number(out, "line", g->line);
    dh_str_add(out, "\n");
    for (uint32_t k = 0; k < g->n_initials; k++) {
        const struct dh_initial *i = &p->initials.at[g->initial + k];
        dh_str_addf(out, "initial %u ", i->offset);
        print_value(p, i->value, out);
        dh_str_add(out, "\n");
    }
}

void dh_program_print(const struct dh_program *p, struct dh_str *out)
{
    dh_str_add(out, "program 1\n");
    for (size_t g = 0; g < p->globals.n; g++)
        print_global(p, &p->globals.at[g], out);
    for (size_t r = 0; r < p->roots.n; r++) {
        const struct dh_root *root = &p->roots.at[r];
        dh_str_addf(out, "root %s @", dh_text_word_of(dh_text_words_roots, root->kind));
        add_name(out, dh_program_string(p, p->functions.at[root->function].name));
        add_number(out, "order", root->order);
        dh_str_add(out, "\n");
    }
    for (size_t f = 0; f < p->functions.n; f++)
        print_function(p, &p->functions.at[f], out);
}
