#include "launch/look_for_opened.h"

#include "driver/opened_libraries.h"

#include <string.h>

#define PATIENCE_NS 5000000000ull

static bool keep(const struct dh_subject *s, const struct dh_engine_control *c)
{
    bool found = false;
    for (uint32_t i = s->start.n_libraries; i < c->n_libraries && i < DH_ENGINE_LIBRARIES; i++)
        found |= dh_opened_libraries_add(s->program, c->libraries[i].path);
    return found;
}

bool dh_look_for_opened_libraries(const struct dh_subject *s)
{
    struct dh_engine_request w = {.job = {.mode = DH_ENGINE_EXPLORE,
                                          .seed = 1,
                                          .schedules_max = 1,
                                          .time_max_ns = PATIENCE_NS / 2,
                                          .target_held = UINT32_MAX,
                                          .flags = DH_ENGINE_NO_RACES | DH_ENGINE_NO_ORDER,
                                          .strategy = "random"},
                                  .output = DH_OUTPUT_DISCARDED};
    struct dh_err ignored = {0};
    if (dh_opened_libraries_known(s->program, s->start.argv))
        return false;
    struct dh_engine_process *c = dh_engine_process_start(&s->start, &w, &ignored);
    if (c && dh_engine_process_wait(c, PATIENCE_NS))
        dh_opened_libraries_looked(s->program, s->start.argv);
    bool found = c ? keep(s, dh_engine_process_region(c)) : false;
    dh_engine_process_free(c);
    dh_err_release(&ignored);
    return found;
}
