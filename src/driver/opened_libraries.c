#include "driver/opened_libraries.h"

#include "base/str.h"
#include "driver/libraries.h"
#include "host/cache.h"
#include "image/container.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>

/* NULL: the program is not instrumented, or there is no cache. */
static char *list_of(const char *program)
{
    struct dh_err ignored = {0};
    struct dh_container c;
    char text[33], *cache = dh_cache_folder(&ignored), *list = NULL;
    if (cache && dh_container_present(program) && dh_container_open(&c, program, &ignored)) {
        dh_id_text(&c.id, text);
        dh_container_release(&c);
        list = dh_format("%s/opened-%s", cache, text);
    }
    free(cache);
    dh_err_release(&ignored);
    return list;
}

static char *read_list(const char *list)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    char *text = NULL;
    if (list && dh_file_exists(list) && dh_file_read(list, &b, &ignored)) {
        text = dh_format("%.*s", (int)b.n, (const char *)b.at);
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
    return text ? text : dh_strdup("");
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, line, n) == 0 && (at[n] == '\n' || !at[n]))
            return true;
    return false;
}

/* What cannot be kept is looked for again. */
static bool add_line(const char *program, const char *line)
{
    char *list = list_of(program), *old = read_list(list);
    struct dh_err ignored = {0};
    bool new = list && !has_line(old, line);
    if (new) {
        char *text = dh_format("%s%s\n", old, line);
        new = dh_file_write(list, text, strlen(text), 0600, &ignored);
        free(text);
    }
    dh_err_release(&ignored);
    free(list);
    free(old);
    return new;
}

static char *words_of(char *const *argv)
{
    struct dh_str words = {0};
    char text[33];
    for (; *argv; argv++)
        dh_str_add_n(&words, *argv, strlen(*argv) + 1);
    struct dh_id id = dh_content_hash(words.at, words.n);
    dh_id_text(&id, text);
    dh_str_release(&words);
    return dh_format("? %s", text);
}

/* ---- who may open some ---- */

static bool module_calls_dlopen(const char *path)
{
    struct dh_container c;
    struct dh_bytes b;
    struct dh_err ignored = {0};
    bool calls = false;
    if (dh_container_open(&c, path, &ignored)) {
        if (dh_container_read(&c, DH_PART_MODULE, &b, &ignored)) { /* names of symbols stand in bitcode as they are */
            calls = memmem(b.at, b.n, "dlopen", strlen("dlopen"));
            dh_bytes_release(&b);
        }
        dh_container_release(&c);
    }
    dh_err_release(&ignored);
    return calls;
}

static void note_dlopen(void *arg, const struct dh_elf_symbol *s)
{
    *(bool *)arg |= !s->defined && strcmp(s->name, "dlopen") == 0;
}

static void note_opener(void *arg, const char *name, const char *path, bool instrumented)
{
    struct dh_bytes b;
    struct dh_elf e;
    struct dh_err ignored = {0};
    (void)name;
    if (instrumented) {
        *(bool *)arg |= module_calls_dlopen(path);
    } else if (path && dh_file_read(path, &b, &ignored)) {
        if (dh_elf_open(&e, path, b.at, b.n, &ignored)) {
            dh_elf_each_symbol(&e, true, note_dlopen, arg);
            dh_elf_release(&e);
        }
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
}

static bool may_open(const char *program)
{
    struct dh_err ignored = {0};
    bool calls = module_calls_dlopen(program);
    if (!calls)
        dh_libraries_each(program, note_opener, &calls, &ignored);
    dh_err_release(&ignored);
    return calls;
}

/* ---- the list ---- */

void dh_opened_libraries_looked(const char *program, char *const *argv)
{
    char *line = words_of(argv);
    add_line(program, line);
    free(line);
}

bool dh_opened_libraries_known(const char *program, char *const *argv)
{
    char *list = list_of(program), *text = read_list(list), *line = words_of(argv);
    bool known = !list || has_line(text, line);
    free(list);
    free(text);
    free(line);
    if (known || may_open(program))
        return known;
    dh_opened_libraries_looked(program, argv);
    return true;
}

bool dh_opened_libraries_add(const char *program, const char *path)
{
    char *real = dh_path_real(path);
    bool added = dh_file_is_regular(real ? real : "") && !strchr(real, '\n') && add_line(program, real);
    free(real);
    return added;
}

void dh_opened_libraries_each(const char *program, void (*fn)(void *arg, const char *path), void *arg)
{
    char *list = list_of(program), *text = read_list(list);
    for (char *at = text, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end ? (*end = 0, 1) : 0;
        if (at[0] == '/' && dh_file_exists(at))
            fn(arg, at);
    }
    free(list);
    free(text);
}
