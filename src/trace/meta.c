#include "trace/meta.h"

#include <stdlib.h>

void dh_meta_release(struct dh_meta *m)
{
    for (size_t i = 0; i < m->modules.n; i++)
        free(m->modules.at[i].path);
    for (size_t i = 0; i < m->threads.n; i++)
        free(m->threads.at[i].name);
    for (size_t i = 0; i < m->places.n; i++) {
        free(m->places.at[i].file);
        free(m->places.at[i].function);
        free(m->places.at[i].variable);
    }
    dh_vec_release(&m->places);
    dh_vec_release(&m->modules);
    dh_vec_release(&m->contexts);
    dh_vec_release(&m->threads);
    free(m->program);
    free(m->original);
    free(m->variant);
    *m = (struct dh_meta){0};
}
