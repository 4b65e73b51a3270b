#include "runtime/engine/libraries.h"

#include "runtime/core/instrumented_modules.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/processes/relatives.h"
#include "runtime/platform/bytes.h"

#include <dlfcn.h>

/* Rolled back: what a schedule loaded is gone after it. */
static struct dh_engine_image images[DH_ENGINE_LIBRARIES];

static bool is_file(const struct dh_engine_library *l, const struct dh_module_file *file)
{
    return file->file.inode ? dh_file_identity_equal(l->file, file->file) : dh_text_equal(l->path, file->path);
}

/* The tool made its variants before: what it does not name runs as it was linked, and its accesses are not seen. */
static struct dh_engine_library *add_unknown(const struct dh_module_file *file, uint32_t first)
{
    struct dh_engine_control *c = dh_engine->control;
    c->progress.uncovered |= DH_GAP_PLACES;
    c->progress.unknown_libraries++;
    if (c->n_libraries == DH_ENGINE_LIBRARIES)
        return NULL;
    struct dh_engine_library *l = &c->libraries[c->n_libraries++];
    *l = (struct dh_engine_library){.file = file->file, .first = first, .count = DH_PLACES_OF_LIBRARY};
    dh_text_copy(l->path, sizeof l->path, file->path);
    return l;
}

static uint32_t number(const struct dh_module_file *file, uint32_t first)
{
    if (!dh_engine) /* in a child */
        return first;
    struct dh_engine_control *c = dh_engine->control;
    struct dh_engine_library *l = NULL;
    for (uint32_t i = 0; i < c->n_libraries && !l; i++)
        l = is_file(&c->libraries[i], file) ? &c->libraries[i] : NULL;
    if (!l && dh_relatives_is_followed())
        l = add_unknown(file, first);
    if (!l)
        return first;
    images[l - c->libraries] = (struct dh_engine_image){file->start, file->end, file->bias};
    return l->first;
}

void dh_engine_libraries_start(void)
{
    dh_module_numbering = number;
}

/* A library may have been closed since it joined, and something else may lie there. */
void dh_engine_libraries_images(struct dh_engine_image out[DH_ENGINE_LIBRARIES])
{
    struct dl_find_object now;
    for (uint32_t i = 0; i < DH_ENGINE_LIBRARIES; i++) {
        void *start = (void *)images[i].start;
        bool there = start && _dl_find_object(start, &now) == 0 && now.dlfo_map_start == start;
        out[i] = there ? images[i] : (struct dh_engine_image){0};
    }
}
