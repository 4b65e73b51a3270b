/* Reads the whole-program model (model/program.h) of an executable, a library or a bitcode file. Layer: driver (LLVM).
 * Nothing is run. Call it in a child: LLVM's reader crashes on some damaged input. */
#ifndef DH_DRIVER_WHOLE_PROGRAM_H
#define DH_DRIVER_WHOLE_PROGRAM_H

#include "event/site.h"
#include "image/container.h"
#include "model/library_models.h"
#include "model/program.h"

struct dh_whole_program {
    struct dh_program program;
    struct dh_site_table sites; /* points into site_bytes */
    struct dh_bytes site_bytes;
    struct dh_id id; /* build id; of bitcode: hash of the file */
};

/* `w` is released by the caller in any case. */
bool dh_whole_program_read(struct dh_whole_program *w, const char *path, const struct dh_library_models *models,
                           bool library, struct dh_err *err);
void dh_whole_program_release(struct dh_whole_program *w);

#endif
