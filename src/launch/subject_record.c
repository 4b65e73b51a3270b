#include "launch/subject_record.h"

#include "base/random.h"
#include "base/str.h"
#include "host/file.h"
#include "host/resources.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDIN_VARIABLE "DEADHEAT_STDIN" /* "DEVICE:INODE" of the standard input of the whole run */
#define THREADS_SUFFIX ".threads"       /* as the runtime has it (core/variant.c) */
#define INPUT_SUFFIX ".stdin"
enum { RECORDS_MOST = 4096, PIPE_MOST = 1 << 20, PIPE_PATIENCE_MS = 300 };

extern char **environ;

/* ---- standard input ---- */

static char *identity_of(const struct stat *st)
{
    return dh_format("%llx:%llx", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
}

static bool is_of_the_run(const struct stat *st)
{
    const char *run = getenv(STDIN_VARIABLE);
    char *own = identity_of(st);
    bool same = run && strcmp(run, own) == 0;
    free(own);
    return same;
}

/* What is in the pipe, without taking it out: the program, or another process that shares the pipe, is still to read
 * it. */
static bool copy_pipe(const char *to)
{
    static char block[PIPE_MOST];
    int ends[2];
    struct pollfd in = {STDIN_FILENO, 0, 0};
    poll(&in, 1, PIPE_PATIENCE_MS);
    if (!(in.revents & POLLHUP) || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_MOST);
    ssize_t n = tee(STDIN_FILENO, ends[1], PIPE_MOST, SPLICE_F_NONBLOCK),
            got = n > 0 ? read(ends[0], block, PIPE_MOST) : 0;
    close(ends[0]);
    close(ends[1]);
    struct dh_err ignored = {0};
    bool ok = got >= 0 && got < PIPE_MOST && dh_file_write(to, block, (size_t)got, 0600, &ignored);
    dh_err_release(&ignored);
    return ok;
}

/* The file that stands for standard input, or "" with why there is none in `note`. */
static char *input_of(const char *record, const char **note)
{
    struct stat st;
    *note = "";
    if (fstat(STDIN_FILENO, &st) != 0)
        return dh_strdup("");
    if (S_ISREG(st.st_mode)) {
        char *path = lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 ? dh_path_real("/proc/self/fd/0") : NULL;
        *note = path ? "" : "its standard input had been read in part";
        return path ? path : dh_strdup("");
    }
    if (!S_ISFIFO(st.st_mode) || is_of_the_run(&st))
        return dh_strdup("");
    char *copy = dh_format("%s" INPUT_SUFFIX, record);
    if (copy_pipe(copy))
        return copy;
    free(copy);
    *note = "its standard input is a pipe that was still open";
    return dh_strdup("");
}

/* ---- writing ---- */

static int new_record(const char *folder, char **path)
{
    for (unsigned i = 1; i <= RECORDS_MOST; i++) {
        *path = dh_format("%s/%06u", folder, i);
        int fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || access(*path, F_OK) != 0)
            return fd;
        free(*path);
    }
    *path = NULL;
    return -1;
}

static void add_field(struct dh_str *s, const char *key, const char *value)
{
    dh_str_addf(s, "%s=%s", key, value);
    dh_str_add_n(s, "", 1);
}

static bool is_ours(const char *variable)
{
    return dh_starts_with(variable, "DEADHEAT_");
}

void dh_subject_record_write(const char *program, char **argv)
{
    const char *folder = getenv(DH_SUBJECTS_VARIABLE), *note;
    char *path = NULL;
    int fd = folder && *folder ? new_record(folder, &path) : -1;
    if (fd >= 0) {
        struct dh_str s = {0};
        char *cwd = getcwd(NULL, 0), *input = input_of(path, &note);
        add_field(&s, "program", program);
        add_field(&s, "folder", cwd ? cwd : "/");
        add_field(&s, "input", input);
        add_field(&s, "note", note);
        for (char **a = argv; *a; a++)
            add_field(&s, "word", *a);
        for (char **e = environ; *e; e++)
            if (!is_ours(*e))
                add_field(&s, "variable", *e);
        dh_write_all(fd, s.at, s.n);
        close(fd);
        setenv(DH_REPORTED_VARIABLE, path, 1);
        dh_str_release(&s);
        free(input);
        free(cwd);
    } else if (folder)
        setenv(DH_REPORTED_VARIABLE, "", 1);
    free(path);
}

char *dh_subject_records_begin(struct dh_err *err)
{
    struct stat st;
    char *folder = dh_temp_folder(err), *self = folder ? dh_resource_self(err) : NULL;
    if (!self) {
        free(folder);
        return NULL;
    }
    setenv(DH_SUBJECTS_VARIABLE, folder, 1);
    setenv("DEADHEAT_TOOL", self, 1);
    if (fstat(STDIN_FILENO, &st) == 0) {
        char *own = identity_of(&st);
        setenv(STDIN_VARIABLE, own, 1);
        free(own);
    }
    free(self);
    return folder;
}

/* ---- reading ---- */

static void release_record(struct dh_subject_record *r)
{
    free(r->program);
    free(r->folder);
    free(r->input);
    free(r->note);
    for (size_t i = 0; i < r->argv.n; i++)
        free(r->argv.at[i]);
    for (size_t i = 0; i < r->environment.n; i++)
        free(r->environment.at[i]);
    dh_vec_release(&r->argv);
    dh_vec_release(&r->environment);
}

void dh_subject_records_release(struct dh_subject_records *r)
{
    for (size_t i = 0; i < r->at.n; i++)
        release_record(&r->at.at[i]);
    dh_vec_release(&r->at);
}

static void take_field(struct dh_subject_record *r, const char *field)
{
    struct {
        const char *key;
        char **to;
    } single[] = {{"program=", &r->program}, {"folder=", &r->folder}, {"input=", &r->input}, {"note=", &r->note}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (dh_starts_with(field, single[i].key) && !*single[i].to)
            *single[i].to = dh_strdup(field + strlen(single[i].key));
    if (dh_starts_with(field, "word="))
        dh_vec_push(&r->argv, dh_strdup(field + strlen("word=")));
    if (dh_starts_with(field, "variable="))
        dh_vec_push(&r->environment, dh_strdup(field + strlen("variable=")));
}

/* One that was not written whole (its process was killed) is left out. */
static bool read_record(const char *path, struct dh_subject_record *r)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    *r = (struct dh_subject_record){.runs = 1};
    if (!dh_file_read(path, &b, &ignored)) {
        dh_err_release(&ignored);
        return false;
    }
    for (size_t at = 0; at < b.n;) {
        size_t n = strnlen((const char *)b.at + at, b.n - at);
        if (at + n < b.n)
            take_field(r, (const char *)b.at + at);
        at += n + 1;
    }
    dh_bytes_release(&b);
    dh_vec_push(&r->argv, NULL);
    dh_vec_push(&r->environment, NULL);
    char *mark = dh_format("%s" THREADS_SUFFIX, path);
    r->threads = dh_file_exists(mark);
    free(mark);
    if (r->program && r->folder && r->input && r->note && r->argv.n > 1)
        return true;
    release_record(r);
    return false;
}

static bool has_same_input(const char *a, const char *b)
{
    struct dh_bytes x = {0}, y = {0};
    struct dh_err ignored = {0};
    if (strcmp(a, b) == 0)
        return true;
    bool same = *a && *b && dh_file_read(a, &x, &ignored) && dh_file_read(b, &y, &ignored) && x.n == y.n &&
                memcmp(x.at, y.at, x.n) == 0;
    dh_bytes_release(&x);
    dh_bytes_release(&y);
    dh_err_release(&ignored);
    return same;
}

static bool is_same(const struct dh_subject_record *a, const struct dh_subject_record *b)
{
    bool same = strcmp(a->program, b->program) == 0 && strcmp(a->folder, b->folder) == 0 && a->argv.n == b->argv.n;
    for (size_t i = 0; same && i + 1 < a->argv.n; i++)
        same = strcmp(a->argv.at[i], b->argv.at[i]) == 0;
    return same && has_same_input(a->input, b->input);
}

static void add_record(struct dh_subject_records *out, struct dh_subject_record *r)
{
    for (size_t i = 0; i < out->at.n; i++)
        if (is_same(&out->at.at[i], r)) {
            out->at.at[i].runs++;
            out->at.at[i].threads |= r->threads;
            release_record(r);
            return;
        }
    dh_vec_push(&out->at, *r);
}

bool dh_subject_records_end(const char *folder, struct dh_subject_records *out, struct dh_err *err)
{
    struct dirent **names;
    *out = (struct dh_subject_records){0};
    unsetenv(DH_SUBJECTS_VARIABLE);
    unsetenv(STDIN_VARIABLE);
    int n = scandir(folder, &names, NULL, alphasort);
    if (n < 0)
        return dh_err_errno(err, "%s", folder);
    for (int i = 0; i < n; i++) {
        char *path = dh_format("%s/%s", folder, names[i]->d_name);
        struct dh_subject_record r;
        if (!strchr(names[i]->d_name, '.') && read_record(path, &r))
            add_record(out, &r);
        free(path);
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < out->at.n; i++)
        out->with_threads += out->at.at[i].threads;
    return true;
}

/* ---- using ---- */

/* Where witnesses that name it find it later. */
static bool keep_input(struct dh_subject_record *r, const char *folder, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_mkdir_parents(folder, 0777, err) || !dh_file_read(r->input, &b, err))
        return false;
    char *hex = dh_format("%016llx", (unsigned long long)dh_fnv(DH_FNV_BASIS, b.at, b.n)),
         *there = dh_path_absolute(folder);
    char *path = dh_format("%s/stdin-%s", there, hex);
    bool ok = dh_file_write(path, b.at, b.n, 0600, err);
    dh_bytes_release(&b);
    free(hex);
    free(there);
    free(r->input);
    r->input = path;
    return ok;
}

bool dh_subject_records_keep_inputs(struct dh_subject_records *r, const char *from, const char *to, struct dh_err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->at.n; i++)
        if (dh_starts_with(r->at.at[i].input, from))
            ok = keep_input(&r->at.at[i], to, err);
    return ok;
}

void dh_subject_record_enter(const struct dh_subject_record *r)
{
    if (chdir(r->folder) != 0)
        _exit(127);
    clearenv();
    for (size_t i = 0; i + 1 < r->environment.n; i++)
        putenv(r->environment.at[i]);
}

char *dh_subject_record_words(const struct dh_subject_record *r)
{
    struct dh_str s = {0};
    char *cwd = getcwd(NULL, 0);
    if (!cwd || strcmp(cwd, r->folder) != 0)
        dh_str_addf(&s, "cd %s && ", r->folder);
    for (size_t i = 0; i + 1 < r->argv.n; i++)
        dh_str_addf(&s, "%s%s", i ? " " : "", r->argv.at[i]);
    if (r->input[0])
        dh_str_addf(&s, " < %s", r->input);
    free(cwd);
    return dh_str_take(&s);
}
