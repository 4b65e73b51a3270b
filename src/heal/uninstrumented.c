#include "heal/uninstrumented.h"

#include "driver/libraries.h"
#include "host/file.h"
#include "image/elf_image.h"

/* Also what it defines itself: of two definitions of a name, all modules use the first (interposition). */
static void note_variable(void *arg, const struct dh_elf_symbol *s)
{
    if (s->type == STT_OBJECT || s->type == STT_TLS || (s->type == STT_NOTYPE && !s->defined))
        dh_names_add(arg, s->name);
}

static void look_into(void *arg, const char *name, const char *path, bool instrumented)
{
    struct dh_bytes b;
    struct dh_elf e;
    struct dh_err ignored = {0};
    if (instrumented || !path || !dh_file_read(path, &b, &ignored)) {
        dh_err_release(&ignored);
        return;
    }
    if (dh_elf_open(&e, name, b.at, b.n, &ignored)) {
        dh_elf_each_symbol(&e, true, note_variable, arg);
        dh_elf_release(&e);
    }
    dh_bytes_release(&b);
    dh_err_release(&ignored);
}

bool dh_variables_named_outside(const char *program, struct dh_names *out, struct dh_err *err)
{
    return dh_libraries_each(program, look_into, out, err);
}
