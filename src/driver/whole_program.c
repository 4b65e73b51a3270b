#include "driver/whole_program.h"

#include "driver/merge.h"
#include "driver/passes.h"
#include "ir/annotations.h"
#include "ir/byval_copies.h"
#include "ir/model_reader.h"
#include "ir/name_hints.h"
#include "ir/sites.h"

#include <string.h>

static bool open_sites(struct dh_whole_program *w, struct dh_err *err)
{
    const char *why;
    return dh_site_table_read(&w->sites, w->site_bytes.at, w->site_bytes.n, &why) ||
           dh_err_set(err, "%s; build it again", why);
}

static LLVMModuleRef from_container(struct dh_whole_program *w, const char *path, struct dh_err *err)
{
    struct dh_container c;
    struct dh_bytes module = {0};
    LLVMModuleRef m = NULL;
    if (!dh_container_open(&c, path, err))
        return NULL;
    w->id = c.id;
    if (dh_container_read(&c, DH_PART_SITES, &w->site_bytes, err) && open_sites(w, err) &&
        dh_container_read(&c, DH_PART_MODULE, &module, err))
        m = dh_parse_bitcode(dh_context_new(), "embedded module", module.at, module.n, err);
    dh_bytes_release(&module);
    dh_container_release(&c);
    return m;
}

/* Bitcode as the compiler made it gets what the link step gives to others: promoted locals and numbered sites. */
static bool prepare(struct dh_whole_program *w, LLVMModuleRef m, struct dh_err *err)
{
    size_t n;
    LLVMSetIsNewDbgInfoFormat(m, 0);
    dh_ir_read_annotations(m);
    dh_ir_add_name_hints(m);
    dh_ir_inline_atomics(m);
    if (!dh_passes_promote(m, err))
        return false;
    dh_ir_materialise_byval_copies(m);
    struct dh_site_builder *b = dh_site_builder_new();
    bool ok = dh_ir_number_sites(m, b, err);
    if (ok) {
        w->site_bytes.at = dh_site_builder_write(b, &n);
        w->site_bytes.n = n;
        ok = open_sites(w, err);
    }
    dh_site_builder_free(b);
    return ok;
}

static bool is_bitcode(const struct dh_bytes *b)
{
    static const unsigned char raw[] = {'B', 'C', 0xc0, 0xde}, wrapped[] = {0xde, 0xc0, 0x17, 0x0b};
    return b->n > 4 && (memcmp(b->at, raw, 4) == 0 || memcmp(b->at, wrapped, 4) == 0);
}

static LLVMModuleRef from_bitcode(struct dh_whole_program *w, const char *path, const struct dh_bytes *b,
                                  struct dh_err *err)
{
    w->id = dh_content_hash(b->at, b->n);
    LLVMModuleRef m = dh_parse_bitcode(dh_context_new(), path, b->at, b->n, err);
    return m && prepare(w, m, err) ? m : NULL;
}

bool dh_whole_program_read(struct dh_whole_program *w, const char *path, const struct dh_library_models *models,
                           bool library, struct dh_err *err)
{
    struct dh_bytes file;
    *w = (struct dh_whole_program){0};
    if (!dh_file_read(path, &file, err))
        return false;
    LLVMModuleRef m = is_bitcode(&file) ? from_bitcode(w, path, &file, err) : from_container(w, path, err);
    dh_bytes_release(&file);
    return m && dh_ir_read_model(m, models, library, false, &w->program, err);
}

void dh_whole_program_release(struct dh_whole_program *w)
{
    dh_program_release(&w->program);
    dh_bytes_release(&w->site_bytes);
}
