#include "ir/source_text.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    char *text; /* NULL = cannot be read */
    DH_VEC(uint32_t) lines;
    struct source *next;
};

struct dh_source_texts {
    struct dh_ptr_map by_file; /* DIFile -> source */
    struct source *all;
};

enum { MAX_SOURCE = 64 << 20 };

struct dh_source_texts *dh_source_texts_new(void)
{
    return DH_NEW(struct dh_source_texts);
}

void dh_source_texts_free(struct dh_source_texts *s)
{
    if (!s)
        return;
    for (struct source *f = s->all, *next; f; f = next) {
        next = f->next;
        dh_vec_release(&f->lines);
        free(f->text);
        free(f);
    }
    dh_ptr_map_release(&s->by_file);
    free(s);
}

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "re");
    struct dh_str text = {0};
    char block[16384];
    size_t n;
    if (!in)
        return NULL;
    while (text.n < MAX_SOURCE && (n = fread(block, 1, sizeof block, in)) > 0)
        dh_str_add_n(&text, block, n);
    fclose(in);
    return text.at;
}

static char *path_of(LLVMMetadataRef file)
{
    unsigned n, d;
    const char *name = LLVMDIFileGetFilename(file, &n), *directory = LLVMDIFileGetDirectory(file, &d);
    if (n && name[0] == '/')
        d = 0;
    return dh_format("%.*s%s%.*s", (int)d, d ? directory : "", d ? "/" : "", (int)n, n ? name : "");
}

static struct source *source_of(struct dh_source_texts *s, LLVMMetadataRef file)
{
    struct source *f = dh_ptr_map_find(&s->by_file, file);
    if (f)
        return f;
    f = dh_xcalloc(1, sizeof *f);
    f->next = s->all;
    s->all = f;
    *dh_ptr_map_at(&s->by_file, file) = f;
    char *path = path_of(file);
    f->text = read_text(path);
    free(path);
    for (const char *at = f->text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        dh_vec_push(&f->lines, (uint32_t)(at - f->text));
    return f;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *line, size_t n, const char *word, size_t len)
{
    for (size_t i = 0; i + len <= n; i++) {
        if (memcmp(line + i, word, len) || (i && is_word(line[i - 1])) || (i + len < n && is_word(line[i + len])))
            continue;
        return true;
    }
    return false;
}

bool dh_source_texts_mention(struct dh_source_texts *s, LLVMMetadataRef location, const char *path)
{
    LLVMMetadataRef file = location ? LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) : NULL;
    unsigned number = location ? LLVMDILocationGetLine(location) : 0;
    if (!s || !file || !number)
        return false;
    struct source *f = source_of(s, file);
    if (number > f->lines.n)
        return false;
    const char *line = f->text + f->lines.at[number - 1];
    size_t n = strcspn(line, "\n");
    bool any = false;
    for (const char *at = path; *at;) {
        size_t len = 0;
        while (is_word(at[len]))
            len++;
        if (len && !has_word(line, n, at, len))
            return false;
        any |= len > 0;
        at += len ? len : 1;
    }
    return any;
}
