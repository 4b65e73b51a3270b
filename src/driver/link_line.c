#include "driver/link_line.h"

#include "base/str.h"
#include "driver/arguments.h"
#include "host/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of GNU ld and lld that take a value, as the next word or joined ("=", or directly for one-letter ones).
 * The handler, if any, notes what we must know; otherwise the words pass. */
enum value_meaning {
    PLAIN,
    OUTPUT,
    SEARCH_PATH,
    LIBRARY,
    KEEPS_SYMBOL, /* names a symbol that must stay */
    DEFSYM,
    WRAPS,
    READS_FILE, /* names a file the linker reads */
    SYSROOT
};

static const struct valued {
    const char *name; /* without leading dashes */
    enum value_meaning meaning;
} valued[] = {
    {"o", OUTPUT},
    {"output", OUTPUT},
    {"L", SEARCH_PATH},
    {"library-path", SEARCH_PATH},
    {"l", LIBRARY},
    {"library", LIBRARY},
    {"e", KEEPS_SYMBOL},
    {"entry", KEEPS_SYMBOL},
    {"u", KEEPS_SYMBOL},
    {"undefined", KEEPS_SYMBOL},
    {"require-defined", KEEPS_SYMBOL},
    {"init", KEEPS_SYMBOL},
    {"fini", KEEPS_SYMBOL},
    {"export-dynamic-symbol", KEEPS_SYMBOL},
    {"defsym", DEFSYM},
    {"wrap", WRAPS},
    {"T", READS_FILE},
    {"script", READS_FILE},
    {"default-script", READS_FILE},
    {"dT", READS_FILE},
    {"version-script", READS_FILE},
    {"dynamic-list", READS_FILE},
    {"export-dynamic-symbol-list", READS_FILE},
    {"retain-symbols-file", READS_FILE},
    {"symbol-ordering-file", READS_FILE},
    {"just-symbols", READS_FILE},
    {"R", PLAIN},
    {"sysroot", SYSROOT},
    {"m", PLAIN},
    {"z", PLAIN},
    {"h", PLAIN},
    {"soname", PLAIN},
    {"rpath", PLAIN},
    {"rpath-link", PLAIN},
    {"dynamic-linker", PLAIN},
    {"I", PLAIN},
    {"y", PLAIN},
    {"trace-symbol", PLAIN},
    {"Map", PLAIN},
    {"f", PLAIN},
    {"auxiliary", PLAIN},
    {"F", PLAIN},
    {"filter", PLAIN},
    {"plugin", PLAIN},
    {"plugin-opt", PLAIN},
    {"a", PLAIN},
    {"A", PLAIN},
    {"b", PLAIN},
    {"format", PLAIN},
    {"mllvm", PLAIN},
    {"exclude-libs", PLAIN},
    {"hash-style", PLAIN},
    {"section-start", PLAIN},
    {"Ttext", PLAIN},
    {"Tdata", PLAIN},
    {"Tbss", PLAIN},
    {"Ttext-segment", PLAIN},
    {"sort-section", PLAIN},
    {"unresolved-symbols", PLAIN},
    {"image-base", PLAIN},
    {"reproduce", PLAIN},
    {"dependency-file", PLAIN},
    {"threads", PLAIN},
    {"error-limit", PLAIN},
    {"orphan-handling", PLAIN},
    {"pack-dyn-relocs", PLAIN},
    {"package-metadata", PLAIN},
    {"max-page-size", PLAIN},
    {"G", PLAIN},
    {"O", PLAIN},
    {"assert", PLAIN},
    {"oformat", PLAIN},
    {"task-link", PLAIN},
    {"Y", PLAIN},
    {"c", PLAIN},
    {"P", PLAIN},
};

/* Names that begin like a one-letter option but are options of their own must not be cut after the letter. */
static bool is_joined_short(const char *word, const struct valued *v)
{
    static const char *const whole_words[] = {"-export-dynamic", "-lto",      "-eh-frame-hdr", "-omagic",
                                              "-undefined",      "-version",  "-verbose",      "-fatal-warnings",
                                              "-fix-",           "-format",   "-filter",       "-fini",
                                              "-trace",          "-threads",  "-tls",          "-Map",
                                              "-mllvm",          "-build-id", "-dynamic",      "-init",
                                              "-image-base",     "-icf",      "-ignore",       "-error",
                                              "-emit",           "-enable",   "-entry",        "-exclude",
                                              "-execute",        "-output",   "-oformat",      "-orphan",
                                              "-unresolved",     "-unique",   "-zlib",         "-help",
                                              "-hash",           "-library",  "-Ttext",        "-Tdata",
                                              "-Tbss",           "-apply",    "-as-needed",    "-allow",
                                              "-auxiliary",      "-assert",   "-compress",     "-color",
                                              "-call",           "-cref",     "-check",        "-check-sections",
                                              "-Bsymbolic",      NULL};
    if (v->name[1] || word[0] != '-' || word[1] != v->name[0] || word[1] == '-' || !word[2])
        return false;
    for (const char *const *w = whole_words; *w; w++)
        if (dh_starts_with(word, *w))
            return false;
    return true;
}

/* Finds the row of a valued option; *value gets the joined value or NULL when the next word is it. */
static const struct valued *find_valued(const char *word, const char **value)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        size_t n = strlen(valued[i].name);
        bool single = !valued[i].name[1];
        if (single && word[1] == '-')
            continue;
        if (strcmp(name, valued[i].name) == 0) {
            *value = NULL;
            return &valued[i];
        }
        if (!single && strncmp(name, valued[i].name, n) == 0 && name[n] == '=') {
            *value = name + n + 1;
            return &valued[i];
        }
    }
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        if (is_joined_short(word, &valued[i])) {
            *value = word + 2;
            return &valued[i];
        }
    return NULL;
}

struct reading {
    struct dh_link_line *line;
    bool prefers_static;
    int n_inputs;
};

static void add_word(struct reading *r, enum dh_link_word_kind kind, const char *text, const char *option)
{
    struct dh_link_word w = {.kind = kind,
                             .text = dh_strdup(text),
                             .option = option ? dh_strdup(option) : NULL,
                             .prefers_static = r->prefers_static};
    dh_vec_push(&r->line->words, w);
}

static void add_option_words(struct reading *r, const char *word, const char *next)
{
    add_word(r, DH_LINK_WORD_OPTION, word, NULL);
    if (next)
        add_word(r, DH_LINK_WORD_OPTION, next, NULL);
}

/* The right side of --defsym=a=b+1 names symbols too. */
static void keep_defsym(struct dh_link_line *l, const char *text)
{
    struct dh_str name = {0};
    for (const char *at = text;; at++) {
        bool part = *at && (strchr("_.$@", *at) || isalnum((unsigned char)*at));
        if (part) {
            dh_str_add_n(&name, at, 1);
            continue;
        }
        if (name.n)
            dh_argv_add(&l->kept_symbols, name.at);
        dh_str_clear(&name);
        if (!*at)
            break;
    }
    dh_str_release(&name);
}

static void take_valued(struct reading *r, const struct valued *v, const char *word, const char *next,
                        const char *value)
{
    struct dh_link_line *l = r->line;
    const char *text = next ? next : value;
    switch (v->meaning) {
    case OUTPUT:
        free(l->output);
        l->output = dh_strdup(text);
        return;
    case SEARCH_PATH:
        add_word(r, DH_LINK_WORD_SEARCH_PATH, text, NULL);
        return;
    case LIBRARY:
        l->has_libc = l->has_libc || strcmp(text, "c") == 0;
        r->n_inputs++;
        add_word(r, DH_LINK_WORD_LIBRARY, text, NULL);
        return;
    case READS_FILE:
        add_word(r, DH_LINK_WORD_FILE_OPTION, text, v->name);
        return;
    case KEEPS_SYMBOL:
        dh_argv_add(&l->kept_symbols, text);
        break;
    case DEFSYM:
        keep_defsym(l, text);
        break;
    case WRAPS:
        dh_argv_add(&l->wrapped, text);
        break;
    case SYSROOT:
        free(l->sysroot);
        l->sysroot = dh_strdup(text);
        break;
    case PLAIN:
        break;
    }
    add_option_words(r, word, next);
}

static void take_flag(struct reading *r, const char *word)
{
    struct dh_link_line *l = r->line;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    if (!strcmp(name, "shared") || !strcmp(name, "Bshareable"))
        l->kind = DH_LINK_SHARED;
    else if (!strcmp(name, "pie") || !strcmp(name, "pic-executable"))
        l->kind = DH_LINK_PIE;
    else if (!strcmp(name, "no-pie"))
        l->kind = DH_LINK_EXECUTABLE;
    else if (!strcmp(name, "r") || !strcmp(name, "relocatable"))
        l->kind = DH_LINK_RELOCATABLE;
    else if (!strcmp(name, "E") || !strcmp(name, "export-dynamic"))
        l->export_dynamic = true;
    else if (!strcmp(name, "t") || !strcmp(name, "trace"))
        l->traces = true;
    else if (!strcmp(name, "static") || !strcmp(name, "Bstatic") || !strcmp(name, "dn") ||
             !strcmp(name, "non_shared")) {
        /* -static before any input comes from the driver's -static; later ones are -Wl,-Bstatic around a library. */
        l->is_static = l->is_static || (!strcmp(name, "static") && r->n_inputs == 0);
        r->prefers_static = true;
    } else if (!strcmp(name, "Bdynamic") || !strcmp(name, "dy") || !strcmp(name, "call_shared"))
        r->prefers_static = false;
    add_word(r, DH_LINK_WORD_OPTION, word, NULL);
}

static bool read_word(struct reading *r, const struct dh_argv *in, int *i, struct dh_err *err)
{
    const char *word = in->at[*i], *value = NULL, *next = NULL;
    if (word[0] != '-' || !word[1]) {
        r->n_inputs++;
        add_word(r, DH_LINK_WORD_FILE, word, NULL);
        return true;
    }
    const struct valued *v = find_valued(word, &value);
    if (!v) {
        take_flag(r, word);
        return true;
    }
    if (!value) {
        if (*i + 1 >= in->n)
            return dh_err_set(err, "linker option %s: its value is missing", word);
        next = in->at[++*i];
    }
    take_valued(r, v, word, next, value);
    return true;
}

bool dh_link_line_read(struct dh_link_line *l, int argc, char **argv, struct dh_err *err)
{
    *l = (struct dh_link_line){.output = dh_strdup("a.out"), .level = '2'};
    struct reading r = {.line = l};
    struct dh_argv in = {0};
    bool ok = dh_response_expand(argc, argv, &in, err);
    for (int i = 0; ok && i < in.n; i++)
        ok = read_word(&r, &in, &i, err);
    l->asks_only = r.n_inputs == 0;
    dh_argv_release(&in);
    return ok;
}

void dh_link_line_release(struct dh_link_line *l)
{
    for (size_t i = 0; i < l->words.n; i++) {
        free(l->words.at[i].text);
        free(l->words.at[i].option);
    }
    dh_vec_release(&l->words);
    dh_argv_release(&l->kept_symbols);
    dh_argv_release(&l->wrapped);
    free(l->output);
    free(l->sysroot);
}

void dh_link_word_write(const struct dh_link_word *w, struct dh_argv *out)
{
    switch (w->kind) {
    case DH_LINK_WORD_LIBRARY:
        dh_argv_addf(out, "-l%s", w->text);
        break;
    case DH_LINK_WORD_SEARCH_PATH:
        dh_argv_addf(out, "-L%s", w->text);
        break;
    case DH_LINK_WORD_FILE_OPTION:
        /* -T knows no '='. */
        if (!w->option[1] || !strcmp(w->option, "dT")) {
            dh_argv_addf(out, "-%s", w->option);
            dh_argv_add(out, w->text);
        } else
            dh_argv_addf(out, "--%s=%s", w->option, w->text);
        break;
    case DH_LINK_WORD_OPTION:
    case DH_LINK_WORD_FILE:
        dh_argv_add(out, w->text);
        break;
    }
}

static char *search_one(const struct dh_link_line *l, const char *folder, const char *name, bool prefers_static)
{
    const char *root = "";
    if (folder[0] == '=') {
        root = l->sysroot ? l->sysroot : "";
        folder++;
    }
    static const char *const dynamic[] = {"lib%s.so", "lib%s.a"}, *const fixed[] = {"lib%s.a"};
    const char *const *forms = prefers_static ? fixed : dynamic;
    for (size_t i = 0; i < (prefers_static ? 1u : 2u); i++) {
        char file[512];
        if (name[0] == ':')
            snprintf(file, sizeof file, "%s", name + 1);
        else {
            const char *dot = strstr(forms[i], "%s");
            snprintf(file, sizeof file, "%.*s%s%s", (int)(dot - forms[i]), forms[i], name, dot + 2);
        }
        char *path = dh_format("%s%s/%s", root, folder, file);
        if (dh_file_exists(path))
            return path;
        free(path);
    }
    return NULL;
}

char *dh_link_line_find_library(const struct dh_link_line *l, const struct dh_link_word *w)
{
    /* -L counts for every -l of the line, whatever the order. */
    for (size_t i = 0; i < l->words.n; i++) {
        const struct dh_link_word *s = &l->words.at[i];
        if (s->kind != DH_LINK_WORD_SEARCH_PATH)
            continue;
        char *path = search_one(l, s->text, w->text, w->prefers_static);
        if (path)
            return path;
    }
    return NULL;
}
