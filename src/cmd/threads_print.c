#include "cmd/threads_print.h"

#include "base/str.h"
#include "base/vec.h"
#include "host/symbolize.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_PARENT UINT64_MAX

struct frame {
    char *module; /* NULL: in no known file */
    uint64_t offset;
};

struct thread {
    uint64_t index, parent;
    char *name, *state;
    DH_VEC(struct frame) frames;
};

struct file {
    DH_VEC(struct thread) threads;
    DH_VEC(char *) remarks;
};

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Undoes \xNN in place; a backslash that starts nothing of the kind stays. */
static char *unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        int high = -1, low = -1;
        if (from[0] == '\\' && from[1] == 'x' && (high = hex_digit(from[2])) >= 0)
            low = hex_digit(from[3]);
        if (low >= 0) {
            *to++ = (char)(high << 4 | low);
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = 0;
    return text;
}

static bool read_number(const char *text, int base, uint64_t *out)
{
    char *end;
    if (!text || hex_digit(text[0]) < 0)
        return false;
    errno = 0;
    *out = strtoull(text, &end, base);
    return !*end && !errno;
}

static bool read_frame(char *field, struct frame *f)
{
    char *plus = strrchr(field, '+');
    if (!plus || strncmp(plus, "+0x", 3) != 0 || !read_number(plus + 3, 16, &f->offset))
        return false;
    *plus = 0;
    f->module = strcmp(field, "?") == 0 ? NULL : dh_strdup(unescape(field));
    return true;
}

/* Leaves in `t` what was read, for the caller to release, also when it answers false. */
static bool read_thread(char *line, struct thread *t)
{
    uint64_t tid;
    char *name, *parent, *state, *field;
    if (!read_number(strsep(&line, "\t"), 10, &t->index))
        return false;
    name = strsep(&line, "\t");
    parent = strsep(&line, "\t");
    state = strsep(&line, "\t");
    if (!state || !read_number(strsep(&line, "\t"), 10, &tid))
        return false;
    t->name = dh_strdup(unescape(name));
    t->state = dh_strdup(state);
    t->parent = NO_PARENT;
    if (strcmp(parent, "-") != 0 && !read_number(parent, 10, &t->parent))
        return false;
    while ((field = strsep(&line, "\t"))) {
        struct frame f;
        if (!read_frame(field, &f))
            return false;
        dh_vec_push(&t->frames, f);
    }
    return true;
}

static void thread_release(struct thread *t)
{
    for (size_t i = 0; i < t->frames.n; i++)
        free(t->frames.at[i].module);
    dh_vec_release(&t->frames);
    free(t->name);
    free(t->state);
}

static void file_release(struct file *f)
{
    for (size_t i = 0; i < f->threads.n; i++)
        thread_release(&f->threads.at[i]);
    dh_vec_release(&f->threads);
    for (size_t i = 0; i < f->remarks.n; i++)
        free(f->remarks.at[i]);
    dh_vec_release(&f->remarks);
}

static bool read_line(struct file *f, char *line, unsigned number, const char *path, struct dh_err *err)
{
    if (number == 1)
        return strcmp(line, "deadheat-threads 1") == 0 ||
               dh_err_set(err, "%s: not a threads file of this version", path);
    if (line[0] == '#') {
        dh_vec_push(&f->remarks, dh_strdup(line + 1 + (line[1] == ' ')));
        return true;
    }
    struct thread t = {0};
    bool good = read_thread(line, &t);
    dh_vec_push(&f->threads, t);
    return good || dh_err_set(err, "%s:%u: not a line of a threads file", path, number);
}

static bool read_file(struct file *f, const char *path, struct dh_err *err)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return dh_err_errno(err, "%s", path);
    char *line = NULL;
    size_t cap = 0;
    unsigned number = 0;
    bool good = true;
    for (ssize_t n; good && (n = getline(&line, &cap, in)) > 0;) {
        if (line[n - 1] == '\n')
            line[n - 1] = 0;
        good = read_line(f, line, ++number, path, err);
    }
    if (good && ferror(in))
        good = dh_err_errno(err, "%s", path);
    else if (good && !number)
        good = dh_err_set(err, "%s: not a threads file of this version", path);
    free(line);
    fclose(in);
    return good;
}

/* Below the working directory, the way from there is what an editor and a reader want. */
static const char *short_path(const char *path)
{
    static char *here;
    if (!here && !(here = getcwd(NULL, 0)))
        return path;
    const char *rest = dh_starts_with(path, here) ? path + strlen(here) : "";
    return rest[0] == '/' ? rest + 1 : path;
}

static void print_place(FILE *out, const struct dh_source_frame *f)
{
    if (f->file)
        fprintf(out, "%s:%u:%u in %s", short_path(f->file), f->line, f->column, f->function);
    else
        fprintf(out, "%s", f->function);
}

static const struct thread *find_thread(const struct file *f, uint64_t index)
{
    for (size_t i = 0; i < f->threads.n; i++)
        if (f->threads.at[i].index == index)
            return &f->threads.at[i];
    return NULL;
}

static void print_creator(FILE *out, const struct file *f, const struct thread *t)
{
    const struct thread *parent = find_thread(f, t->parent);
    if (t->parent == 0)
        fprintf(out, ", created by main");
    else if (t->parent != NO_PARENT)
        fprintf(out, ", created by thread %llu '%s'", (unsigned long long)t->parent, parent ? parent->name : "?");
    else if (t->index != 0)
        fprintf(out, ", created out of sight");
}

static void print_unknown(FILE *out, const struct frame *f)
{
    fprintf(out, "%s+0x%llx", f->module ? f->module : "?", (unsigned long long)f->offset);
}

enum printed { UNKNOWN, KNOWN, OUTERMOST };

static enum printed print_frame(FILE *out, struct dh_symbolizer *s, const struct frame *f, const char **before)
{
    struct dh_source_frames places = {0};
    bool known = f->module && dh_symbolize(s, f->module, f->offset - 1, &places) && places.frames.at[0].file;
    for (size_t i = 0; known && i < places.frames.n; i++) {
        fputs(*before, out);
        print_place(out, &places.frames.at[i]);
        *before = "\n    from ";
    }
    if (!known) {
        fputs(*before, out);
        print_unknown(out, f);
        if (places.frames.n)
            fprintf(out, " (%s)", places.frames.at[0].function);
    }
    bool outermost = known && strcmp(places.frames.at[places.frames.n - 1].function, "main") == 0;
    dh_source_frames_release(&places);
    return outermost ? OUTERMOST : known ? KNOWN : UNKNOWN;
}

/* A stack ends in main, or where it leaves the debug information: nothing outside helps the reader. Only its
 * innermost frame may be a library's (std::thread is created inside libstdc++). */
static void print_thread(FILE *out, struct dh_symbolizer *s, const struct file *f, const struct thread *t)
{
    const char *before = " at ";
    fprintf(out, "thread %llu '%s' (%s)", (unsigned long long)t->index, t->name, t->state);
    print_creator(out, f, t);
    for (size_t i = 0; i < t->frames.n; i++) {
        enum printed printed = print_frame(out, s, &t->frames.at[i], &before);
        before = "\n    from ";
        if (printed == OUTERMOST || (printed == UNKNOWN && i > 0))
            break;
    }
    fputc('\n', out);
}

bool dh_threads_print(const char *path, FILE *out, struct dh_err *err)
{
    struct file f = {0};
    bool good = read_file(&f, path, err);
    struct dh_symbolizer *s = dh_symbolizer_new();
    for (size_t i = 0; good && i < f.threads.n; i++)
        print_thread(out, s, &f, &f.threads.at[i]);
    for (size_t i = 0; good && i < f.remarks.n; i++)
        fprintf(out, "%s\n", f.remarks.at[i]);
    dh_symbolizer_free(s);
    file_release(&f);
    return good;
}
