#include "driver/link_recipe.h"

#include "base/alloc.h"
#include "base/str.h"
#include "image/container.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = "DHLINK01";
enum { ENDIAN_MARK = 0x01020304, LAST_KIND = DH_RECIPE_FILE_OPTION };

struct item_header {
    uint32_t kind, n_text, n_option;
    uint64_t n_bytes;
} __attribute__((packed));

enum { WITHOUT_ARRAYS = 1, WITHOUT_COPIES = 2 };

struct header {
    char magic[8];
    uint32_t endian, n_items, output;
    char level;
    uint8_t asan, degree, without; /* WITHOUT_ARRAYS, WITHOUT_COPIES */
};

void dh_link_recipe_add(struct dh_link_recipe *r, enum dh_link_recipe_kind kind, const char *text, const char *option,
                        const void *bytes, size_t n)
{
    struct dh_link_recipe_item i = {.kind = kind, .text = dh_strdup(text), .option = dh_strdup(option ? option : "")};
    if (bytes)
        i.bytes = (struct dh_bytes){.at = dh_xmemdup(bytes, n), .n = n};
    dh_vec_push(&r->items, i);
}

void dh_link_recipe_release(struct dh_link_recipe *r)
{
    for (size_t i = 0; i < r->items.n; i++) {
        free(r->items.at[i].text);
        free(r->items.at[i].option);
        dh_bytes_release(&r->items.at[i].bytes);
    }
    dh_vec_release(&r->items);
}

struct dh_bytes dh_link_recipe_write(const struct dh_link_recipe *r)
{
    struct dh_str out = {0};
    struct header h = {.endian = ENDIAN_MARK,
                       .n_items = (uint32_t)r->items.n,
                       .output = r->output,
                       .level = r->level,
                       .asan = r->asan,
                       .degree = r->degree,
                       .without = (uint8_t)((r->no_arrays ? WITHOUT_ARRAYS : 0) | (r->no_copies ? WITHOUT_COPIES : 0))};
    memcpy(h.magic, magic, sizeof magic);
    dh_str_add_n(&out, (const char *)&h, sizeof h);
    for (size_t i = 0; i < r->items.n; i++) {
        const struct dh_link_recipe_item *it = &r->items.at[i];
        struct item_header ih = {.kind = it->kind,
                                 .n_text = (uint32_t)strlen(it->text),
                                 .n_option = (uint32_t)strlen(it->option),
                                 .n_bytes = it->bytes.n};
        dh_str_add_n(&out, (const char *)&ih, sizeof ih);
        dh_str_add_n(&out, it->text, ih.n_text);
        dh_str_add_n(&out, it->option, ih.n_option);
        dh_str_add_n(&out, it->bytes.at ? (const char *)it->bytes.at : "", it->bytes.n);
    }
    return dh_bytes_take(&out);
}

static bool read_item(struct dh_link_recipe *r, const uint8_t *bytes, size_t n, size_t *at)
{
    struct item_header h;
    if (n - *at < sizeof h)
        return false;
    memcpy(&h, bytes + *at, sizeof h);
    *at += sizeof h;
    size_t left = n - *at;
    if (h.kind > LAST_KIND || h.n_text > left || h.n_option > left - h.n_text ||
        h.n_bytes > left - h.n_text - h.n_option)
        return false;
    char *text = dh_format("%.*s", (int)h.n_text, (const char *)bytes + *at);
    char *option = dh_format("%.*s", (int)h.n_option, (const char *)bytes + *at + h.n_text);
    bool has_bytes = h.kind == DH_RECIPE_OBJECT || h.kind == DH_RECIPE_LAZY_OBJECT || h.kind == DH_RECIPE_FILE_OPTION;
    dh_link_recipe_add(r, h.kind, text, option, has_bytes ? bytes + *at + h.n_text + h.n_option : NULL, h.n_bytes);
    free(text);
    free(option);
    *at += h.n_text + h.n_option + h.n_bytes;
    return true;
}

bool dh_link_recipe_read(struct dh_link_recipe *r, const void *bytes, size_t n, struct dh_err *err)
{
    *r = (struct dh_link_recipe){0};
    struct header h;
    if (n < sizeof h)
        return dh_err_set(err, "link recipe is cut short; build the program again");
    memcpy(&h, bytes, sizeof h);
    bool ok = memcmp(h.magic, magic, sizeof magic) == 0 && h.endian == ENDIAN_MARK && h.output <= DH_LINK_RELOCATABLE;
    size_t at = sizeof h;
    for (uint32_t i = 0; ok && i < h.n_items; i++)
        ok = read_item(r, bytes, n, &at);
    if (!ok) {
        dh_link_recipe_release(r);
        return dh_err_set(err, "link recipe is damaged; build the program again");
    }
    r->output = h.output;
    r->level = h.level;
    r->asan = h.asan;
    r->degree = h.degree;
    r->no_arrays = h.without & WITHOUT_ARRAYS;
    r->no_copies = h.without & WITHOUT_COPIES;
    return true;
}

static char *replace_origin(const char *text, const char *origin)
{
    static const char *const forms[] = {"$ORIGIN", "${ORIGIN}"};
    for (size_t i = 0; origin && i < 2; i++) {
        const char *at = strstr(text, forms[i]);
        if (!at)
            continue;
        char *once = dh_format("%.*s%s%s", (int)(at - text), text, origin, at + strlen(forms[i]));
        char *all = replace_origin(once, origin);
        free(once);
        return all;
    }
    return dh_strdup(text);
}

static bool lay_file(const struct dh_link_recipe_item *it, const char *folder, size_t number, char **path,
                     struct dh_err *err)
{
    *path = dh_format("%s/%zu-%s", folder, number, dh_basename(it->text));
    return dh_file_write(*path, it->bytes.at, it->bytes.n, 0600, err);
}

static void note_soname(void *arg, int64_t tag, const char *text)
{
    (void)text;
    *(bool *)arg |= tag == DT_SONAME;
}

/* An instrumented library without a soname: programs linked with it name its path, where no variant can be put. */
static bool is_needed_by_path(const char *path)
{
    struct dh_bytes b;
    struct dh_elf e;
    struct dh_err ignored = {0};
    bool has_soname = true;
    if (dh_container_present(path) && dh_file_read(path, &b, &ignored)) {
        if (dh_elf_open(&e, path, b.at, b.n, &ignored)) {
            has_soname = e.type != ET_DYN;
            dh_elf_each_dynamic(&e, note_soname, &has_soname);
            dh_elf_release(&e);
        }
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
    return !has_soname;
}

/* The linker records a library found by -l under its base name; a folder of its own keeps others out. */
static bool add_by_name(const struct dh_link_recipe_item *it, size_t number, const char *folder, struct dh_argv *out,
                        struct dh_err *err)
{
    char *place = dh_format("%s/%zu-library", folder, number);
    char *link = dh_format("%s/%s", place, dh_basename(it->text));
    bool ok = dh_mkdir_parents(place, 0700, err) &&
              (symlink(it->text, link) == 0 || dh_err_errno(err, "cannot write %s", link));
    dh_argv_addf(out, "-L%s", place);
    dh_argv_addf(out, "-l:%s", dh_basename(it->text));
    free(place);
    free(link);
    return ok;
}

static bool add_item(const struct dh_link_recipe *r, size_t number, const char *folder, const struct dh_argv *merged,
                     const char *origin, struct dh_argv *out, struct dh_err *err)
{
    const struct dh_link_recipe_item *it = &r->items.at[number];
    char *path = NULL;
    bool ok = true;
    switch (it->kind) {
    case DH_RECIPE_OPTION:
        path = replace_origin(it->text, origin);
        dh_argv_add(out, path);
        break;
    case DH_RECIPE_MERGED:
        dh_argv_add_all(out, merged->at, merged->n);
        break;
    case DH_RECIPE_OBJECT:
        ok = lay_file(it, folder, number, &path, err);
        dh_argv_add(out, path);
        break;
    case DH_RECIPE_LAZY_OBJECT:
        ok = lay_file(it, folder, number, &path, err);
        dh_argv_add(out, "--start-lib");
        dh_argv_add(out, path);
        dh_argv_add(out, "--end-lib");
        break;
    case DH_RECIPE_LIBRARY:
        dh_argv_addf(out, "-l%s", it->text);
        break;
    case DH_RECIPE_PATH:
        ok = dh_file_exists(it->text) ||
             dh_err_set(err, "%s, which the program was linked with, is gone; build the program again", it->text);
        if (ok && origin && is_needed_by_path(it->text))
            ok = add_by_name(it, number, folder, out, err);
        else
            dh_argv_add(out, it->text);
        break;
    case DH_RECIPE_SEARCH_PATH:
        dh_argv_addf(out, "-L%s", it->text);
        break;
    case DH_RECIPE_FILE_OPTION: {
        ok = lay_file(it, folder, number, &path, err);
        struct dh_link_word w = {.kind = DH_LINK_WORD_FILE_OPTION, .text = path, .option = it->option};
        dh_link_word_write(&w, out);
        break;
    }
    }
    free(path);
    return ok;
}

bool dh_link_recipe_command(const struct dh_link_recipe *r, const char *folder, const struct dh_argv *merged,
                            const char *origin, struct dh_argv *out, struct dh_err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->items.n; i++)
        ok = add_item(r, i, folder, merged, origin, out, err);
    if (origin) /* DT_RPATH would come before LD_LIBRARY_PATH, by which variants of libraries are found */
        dh_argv_add(out, "--enable-new-dtags");
    return ok;
}
