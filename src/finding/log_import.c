#include "finding/log_import.h"

#include "base/str.h"
#include "event/finding_log.h"
#include "finding/resolve.h"
#include "host/file.h"
#include "image/container.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER "run"
#define TAKEN ".taken"

static char *logs_of(const char *db)
{
    return dh_format("%s.logs", db);
}

static void add_line(struct dh_str *out, const char *key, const char *value)
{
    dh_str_addf(out, "%s ", key);
    for (; *value; value++)
        dh_str_add_n(out, *value == '\n' ? " " : value, 1);
    dh_str_add(out, "\n");
}

static bool write_owner(struct dh_logs *l, const struct dh_store_run *run, struct dh_err *err)
{
    char *path = dh_format("%s/" OWNER, l->folder);
    struct dh_str text = {0};
    dh_str_addf(&text, "started %lld\n", run->started);
    add_line(&text, "program", run->program);
    add_line(&text, "arguments", run->arguments);
    /* Close-on-exec: the program must not inherit the lock. */
    l->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool ok =
        l->lock >= 0 && flock(l->lock, LOCK_EX | LOCK_NB) == 0 && write(l->lock, text.at, text.n) == (ssize_t)text.n;
    if (!ok)
        dh_err_errno(err, "cannot write %s", path);
    dh_str_release(&text);
    free(path);
    return ok;
}

bool dh_logs_create(struct dh_logs *l, const char *db, const struct dh_store_run *run, struct dh_err *err)
{
    char *above = logs_of(db), *full = dh_path_absolute(above);
    *l = (struct dh_logs){.lock = -1};
    bool ok = dh_mkdir_parents(full, 0777, err);
    l->folder = dh_format("%s/XXXXXX", full);
    if (ok && !mkdtemp(l->folder))
        ok = dh_err_errno(err, "cannot make a folder for logs in %s", full);
    /* A server that gives up its privileges must still be able to write its log. */
    if (ok && geteuid() == 0 && chmod(l->folder, 01733) != 0)
        ok = dh_err_errno(err, "cannot open %s to other users", l->folder);
    l->prefix = dh_format("%s/log", l->folder);
    if (ok && !write_owner(l, run, err)) {
        dh_remove_tree(l->folder); /* else it would be stored as a run without a program */
        ok = false;
    }
    free(above);
    free(full);
    return ok || dh_err_while(err, "making room for the findings beside the store; --db=FILE names another");
}

void dh_logs_release(struct dh_logs *l)
{
    if (l->lock >= 0)
        close(l->lock);
    free(l->folder);
    free(l->prefix);
    *l = (struct dh_logs){.lock = -1};
}

void dh_import_release(struct dh_import *i)
{
    for (size_t k = 0; k < i->notes.n; k++)
        free(i->notes.at[k]);
    dh_vec_release(&i->notes);
}

struct import {
    struct dh_store *store;
    struct dh_finding_resolver *resolver;
    long long run;
    struct dh_import *out;
};

static bool store_record(struct import *i, const struct dh_log_process *p, const struct dh_log_record *record,
                         struct dh_err *err)
{
    struct dh_log_memory memory = {0};
    struct dh_log_finding from;
    bool ok = true;
    if (dh_log_read_finding(record, &from, &memory)) {
        struct dh_finding f;
        dh_resolve(i->resolver, p, &from, &f);
        bool kept = !i->out->keeps || i->out->keeps(i->out->arg, &f);
        ok = !kept || dh_store_add(i->store, i->run, &f, err);
        dh_finding_release(&f);
        i->out->findings += kept;
    }
    dh_log_memory_release(&memory);
    return ok;
}

/* Several processes of a run may have the same note. */
static void add_note(struct dh_import *out, const char *text)
{
    for (size_t k = 0; text && k < out->notes.n; k++)
        if (strcmp(out->notes.at[k], text) == 0)
            return;
    if (text)
        dh_vec_push(&out->notes, dh_strdup(text));
}

static bool store_records(struct import *i, struct dh_log_reader *reader, struct dh_err *err)
{
    struct dh_log_record record;
    struct dh_log_process process;
    bool known = false, ok = true;
    while (ok && dh_log_next(reader, &record)) {
        if (record.type == DH_LOG_PROCESS)
            known = dh_log_read_process(&record, &process);
        else if (record.type == DH_LOG_FINDING)
            ok = store_record(i, known ? &process : NULL, &record, err);
        else
            add_note(i->out, dh_log_read_note(&record));
    }
    return ok;
}

/* A process may have been killed after storing the log and before removing it. */
static bool is_stored(struct import *i, const char *folder, const struct dh_bytes *bytes, bool *stored,
                      struct dh_err *err)
{
    struct dh_id id = dh_content_hash(bytes->at, bytes->n);
    char text[33];
    bool fresh;
    dh_id_text(&id, text);
    char *log = dh_format("%s/%s", dh_basename(folder), text);
    bool ok = dh_store_claim(i->store, log, &fresh, err);
    *stored = !fresh;
    free(log);
    return ok;
}

static bool store_log(struct import *i, const char *folder, const char *path, struct dh_err *err)
{
    struct dh_bytes bytes;
    struct dh_log_reader reader;
    const char *why;
    bool stored, ok = true;
    if (!dh_file_read(path, &bytes, err))
        return false;
    if (bytes.n == 0)
        ; /* the disk was full, which the process has reported */
    else if (!dh_log_open(&reader, bytes.at, bytes.n, &why))
        dh_vec_push(&i->out->notes, dh_format("%s: %s", path, why));
    else if ((ok = is_stored(i, folder, &bytes, &stored, err)) && !stored) {
        ok = store_records(i, &reader, err);
        if (ok && reader.damaged)
            dh_vec_push(&i->out->notes,
                        dh_format("%s: damaged at byte %zu; what was whole is stored", path, reader.first_damaged));
    }
    dh_bytes_release(&bytes);
    return ok;
}

static bool is_log(const char *name)
{
    return dh_ends_with(name, DH_LOG_SUFFIX) || dh_ends_with(name, DH_LOG_SUFFIX TAKEN);
}

/* Renames it first, so that a process that still runs begins a new file. */
static char *take_log(const char *folder, const char *name)
{
    char *path = dh_format("%s/%s", folder, name);
    if (dh_ends_with(name, TAKEN))
        return path;
    char *taken = dh_format("%s" TAKEN, path);
    if (rename(path, taken) == 0) {
        free(path);
        return taken;
    }
    free(taken);
    return path;
}

static bool store_logs(struct import *i, const char *folder, struct dh_err *err)
{
    DH_VEC(char *) names = {0};
    bool ok = true;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_log(e->d_name))
            dh_vec_push(&names, dh_strdup(e->d_name));
    if (d)
        closedir(d);
    for (size_t k = 0; k < names.n; k++) {
        char *path = ok ? take_log(folder, names.at[k]) : NULL;
        ok = ok && store_log(i, folder, path, err);
        free(path);
        free(names.at[k]);
    }
    dh_vec_release(&names);
    return ok;
}

struct owner {
    char *program, *arguments;
    long long started;
};

static void read_owner(const char *folder, struct owner *o)
{
    char *path = dh_format("%s/" OWNER, folder), *line = NULL;
    size_t cap = 0;
    FILE *in = fopen(path, "re");
    *o = (struct owner){dh_strdup(""), dh_strdup(""), 0};
    for (ssize_t n; in && (n = getline(&line, &cap, in)) > 0;) {
        line[strcspn(line, "\n")] = 0;
        if (dh_starts_with(line, "started "))
            o->started = atoll(line + strlen("started "));
        else if (dh_starts_with(line, "program ")) {
            free(o->program);
            o->program = dh_strdup(line + strlen("program "));
        } else if (dh_starts_with(line, "arguments ")) {
            free(o->arguments);
            o->arguments = dh_strdup(line + strlen("arguments "));
        }
    }
    if (in)
        fclose(in);
    free(line);
    free(path);
}

/* Removes the imported logs; the folder stays if a process that still runs has begun a new log. */
static void remove_stored(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (dh_ends_with(e->d_name, DH_LOG_SUFFIX TAKEN) || strcmp(e->d_name, OWNER) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    if (rmdir(folder) == 0) {
        char *above = dh_format("%.*s", (int)(dh_basename(folder) - folder - 1), folder);
        (void)!rmdir(above);
        free(above);
    }
}

static bool store_folder(const char *folder, struct dh_store *s, struct dh_import *out, struct dh_err *err)
{
    struct owner o;
    struct import i = {.store = s, .resolver = dh_resolver_new(), .out = out};
    read_owner(folder, &o);
    struct dh_store_run run = {o.program, o.arguments, o.started};
    bool ok = dh_store_begin(s, &run, &i.run, err) && store_logs(&i, folder, err) && dh_store_commit(s, err);
    if (ok) {
        out->run = i.run;
        remove_stored(folder);
    } else
        dh_err_while(err, "storing the findings of a run; they stay in %s and the next 'deadheat report' tries again",
                     folder);
    dh_resolver_free(i.resolver);
    free(o.program);
    free(o.arguments);
    return ok;
}

bool dh_logs_store(struct dh_logs *l, struct dh_store *s, struct dh_import *i, struct dh_err *err)
{
    return store_folder(l->folder, s, i, err);
}

static void read_findings(const char *path, struct dh_finding_resolver *resolver,
                          void (*fn)(void *arg, const struct dh_finding *f), void *arg)
{
    struct dh_err ignored = {0};
    struct dh_bytes bytes = {0};
    struct dh_log_reader reader;
    struct dh_log_record record;
    const char *why;
    bool ok = dh_file_read(path, &bytes, &ignored) && dh_log_open(&reader, bytes.at, bytes.n, &why);
    while (ok && dh_log_next(&reader, &record)) {
        struct dh_log_memory memory = {0};
        struct dh_log_finding from;
        if (record.type == DH_LOG_FINDING && dh_log_read_finding(&record, &from, &memory)) {
            struct dh_finding f;
            dh_resolve(resolver, NULL, &from, &f);
            fn(arg, &f);
            dh_finding_release(&f);
        }
        dh_log_memory_release(&memory);
    }
    dh_bytes_release(&bytes);
    dh_err_release(&ignored);
}

void dh_logs_each_finding(const char *prefix, const char *except, void (*fn)(void *arg, const struct dh_finding *f),
                          void *arg)
{
    const char *name = dh_basename(prefix);
    char *folder = dh_format("%.*s", (int)(name - prefix), prefix);
    struct dh_finding_resolver *resolver = dh_resolver_new();
    DIR *d = opendir(folder[0] ? folder : ".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (dh_starts_with(e->d_name, name) && dh_ends_with(e->d_name, DH_LOG_SUFFIX) &&
            !dh_ends_with(e->d_name, except)) {
            char *path = dh_format("%s%s", folder, e->d_name);
            read_findings(path, resolver, fn, arg);
            free(path);
        }
    if (d)
        closedir(d);
    dh_resolver_free(resolver);
    free(folder);
}

/* Whether its process is gone; then we hold the lock. */
static bool is_abandoned(const char *folder, int *lock)
{
    char *path = dh_format("%s/" OWNER, folder);
    struct stat st;
    *lock = open(path, O_RDWR | O_CLOEXEC);
    bool left = *lock >= 0 ? flock(*lock, LOCK_EX | LOCK_NB) == 0
                           : errno == ENOENT && stat(folder, &st) == 0 && S_ISDIR(st.st_mode);
    free(path);
    return left;
}

static bool each_abandoned(const char *db, bool (*fn)(void *arg, const char *folder, struct dh_err *err), void *arg,
                           struct dh_err *err)
{
    char *above = logs_of(db);
    bool ok = true;
    DIR *d = opendir(above);
    for (struct dirent *e; ok && d && (e = readdir(d));) {
        char *folder = dh_format("%s/%s", above, e->d_name);
        int lock = -1;
        if (e->d_name[0] != '.' && is_abandoned(folder, &lock))
            ok = fn(arg, folder, err);
        if (lock >= 0)
            close(lock);
        free(folder);
    }
    if (d)
        closedir(d);
    free(above);
    return ok;
}

struct left {
    struct dh_store *store;
    struct dh_import *out;
};

static bool store_abandoned(void *arg, const char *folder, struct dh_err *err)
{
    struct left *l = arg;
    return store_folder(folder, l->store, l->out, err);
}

bool dh_logs_store_abandoned(const char *db, struct dh_store *s, struct dh_import *i, struct dh_err *err)
{
    struct left l = {s, i};
    return each_abandoned(db, store_abandoned, &l, err);
}

static bool count_one(void *arg, const char *folder, struct dh_err *err)
{
    (void)folder, (void)err;
    ++*(unsigned *)arg;
    return true;
}

bool dh_logs_have_abandoned(const char *db)
{
    unsigned n = 0;
    struct dh_err ignored = {0};
    each_abandoned(db, count_one, &n, &ignored);
    return n > 0;
}
