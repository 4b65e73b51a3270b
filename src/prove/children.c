#include "prove/children.h"

#include "base/str.h"
#include "host/file.h"
#include "image/container.h"

#include <stdlib.h>
#include <string.h>

void dh_children_release(struct dh_children *c)
{
    for (size_t i = 0; i < c->at.n; i++) {
        free(c->at.at[i].program);
        free(c->at.at[i].command);
    }
    dh_vec_release(&c->at);
    *c = (struct dh_children){0};
}

static void add_child(struct dh_children *out, const struct dh_engine_relative *r, unsigned number)
{
    struct dh_id id;
    struct dh_child_process c = {.identity = r->identity,
                                 .number = number,
                                 .program = dh_format("%.*s", (int)sizeof r->program, r->program),
                                 .command = dh_format("%.*s", (int)sizeof r->command, r->command)};
    memcpy(id.bytes, r->build, sizeof id.bytes);
    dh_id_text(&id, c.build);
    dh_vec_push(&out->at, c);
}

void dh_children_read(struct dh_children *out, const struct dh_engine_control *r)
{
    uint32_t n = r->n_relatives < DH_ENGINE_RELATIVES ? r->n_relatives : DH_ENGINE_RELATIVES;
    dh_children_release(out);
    out->all = r->n_relatives ? r->n_relatives - 1 : 0;
    for (uint32_t i = 1; i < n; i++)
        if (r->relatives[i].pid && r->relatives[i].made_threads)
            add_child(out, &r->relatives[i], i);
}

static bool is_called(const struct dh_child_process *c, const char *what)
{
    char *end;
    unsigned long number = strtoul(what, &end, 10);
    if (*what && !*end)
        return c->number == number;
    return strcmp(dh_basename(c->program), what) == 0 || strcmp(c->command, what) == 0;
}

const struct dh_child_process *dh_children_find(const struct dh_children *c, const char *what)
{
    for (size_t i = 0; i < c->at.n; i++)
        if (is_called(&c->at.at[i], what))
            return &c->at.at[i];
    return NULL;
}
