#include "launch/launch.h"

#include "base/str.h"
#include "driver/derive.h"
#include "driver/libraries.h"
#include "driver/library_variants.h"
#include "driver/site_selection.h"
#include "driver/variant.h"
#include "event/thread_count.h"
#include "finding/trained_pairs.h"
#include "host/library_path.h"
#include "host/notice.h"
#include "host/private_files.h"
#include "host/process.h"
#include "host/resources.h"
#include "host/supervise.h"
#include "image/container.h"
#include "launch/detector_list.h"
#include "launch/online.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Programs that this one starts find their variant through these when they start. */
static bool pass_on(const char *plan, struct dh_err *err)
{
    char *self = dh_resource_self(err);
    if (!self)
        return false;
    setenv("DEADHEAT_VARIANT", plan, 1);
    setenv("DEADHEAT_TOOL", self, 1);
    free(self);
    return true;
}

/* The variant answers with this path when the program asks where it is. */
static void name_original(const char *program, const char *variant)
{
    char *real = dh_path_real(program);
    if (strcmp(program, variant) != 0)
        setenv("DEADHEAT_PROGRAM", real ? real : program, 1);
    free(real);
}

static void forget_libraries(void)
{
    dh_library_path_restore();
    unsetenv("DEADHEAT_LIBRARIES");
}

static bool lead_to_libraries(const char *program, const char *plan, struct dh_err *err)
{
    char *folder;
    if (!dh_variant_derive_libraries(program, plan, &folder, err))
        return false;
    forget_libraries();
    if (folder) {
        dh_library_path_prepend(folder);
        setenv("DEADHEAT_LIBRARIES", folder, 1);
    }
    free(folder);
    return true;
}

static bool is_elf(const char *path)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    bool elf = dh_file_read(path, &b, &ignored) && b.n > 4 && memcmp(b.at, "\177ELF", 4) == 0;
    if (!ignored.text)
        dh_bytes_release(&b);
    dh_err_release(&ignored);
    return elf;
}

bool dh_launch_is_binary(const char *file)
{
    return is_elf(file);
}

bool dh_launch_is_ours(const char *file)
{
    return is_elf(file) && dh_container_present(file);
}

static void note_instrumented(void *arg, const char *name, const char *path, bool instrumented)
{
    char **first = arg;
    (void)path;
    if (instrumented && !*first)
        *first = dh_strdup(name);
}

bool dh_launch_can_run(const char *program, struct dh_err *err)
{
    char *library = NULL;
    struct dh_err ignored = {0};
    if (!dh_container_present(program))
        dh_libraries_each(program, note_instrumented, &library, &ignored);
    if (library)
        dh_err_set(err, "%s is not instrumented, only its library %s is: link the program with 'deadheat cc', too",
                   program, library);
    dh_err_release(&ignored);
    bool ok = !library;
    free(library);
    return ok;
}

static char *variant_of(const char *program, const char *plan, struct dh_err *err)
{
    char *variant = dh_launch_can_run(program, err) ? dh_variant_derive(program, plan, err) : NULL;
    if (!variant || !lead_to_libraries(program, plan, err)) {
        free(variant);
        return NULL;
    }
    name_original(program, variant);
    return variant;
}

/* What to execute. A script or libtool wrapper is executed as it is: what it starts finds its variant by itself. */
static char *find_program(const struct dh_launch *l, struct dh_err *err)
{
    struct dh_plan checked;
    err->is_usage = true;
    if (!dh_plan_parse(l->plan, &checked, err))
        return NULL;
    char *program = dh_program_find(l->argv[0]);
    if (!program) {
        dh_err_usage(err, "%s: %s: %s", l->command, l->argv[0],
                     strchr(l->argv[0], '/') ? strerror(errno) : "not found on PATH");
        return NULL;
    }
    bool script = !is_elf(program) || (l->starts_others && !dh_container_present(program));
    if (!script && l->focus && l->focus->selection && dh_container_present(program) &&
        !dh_selection_check(l->focus->selection, program, err)) {
        free(program);
        return NULL;
    }
    char *path = !pass_on(l->plan, err) ? NULL : script ? dh_strdup(program) : variant_of(program, l->plan, err);
    err->is_usage = !path && !script && !dh_container_present(program);
    free(program);
    return path;
}

char *dh_launch_variant(const struct dh_launch *l, char **file, struct dh_err *err)
{
    char *path = find_program(l, err), *found = path ? dh_program_find(l->argv[0]) : NULL;
    *file = found ? dh_path_real(found) : NULL;
    if (found && !is_elf(found)) {
        dh_err_usage(err, "%s: %s is a script; name the program that it starts", l->command, l->argv[0]);
        free(*file);
        *file = NULL;
    }
    free(found);
    if (*file)
        return path;
    free(path);
    return NULL;
}

void dh_runtime_option_add(const char *key, const char *value)
{
    const char *old = getenv("DEADHEAT_OPTIONS"), *quote = strchr(value, '\'') ? "\"" : "'";
    char *options = dh_format("%s%s%s=%s%s%s", old ? old : "", old && *old ? ":" : "", key, quote, value, quote);
    setenv("DEADHEAT_OPTIONS", options, 1);
    free(options);
}

/* Absolute: the program may change its folder before it starts another one. */
static void add_detection(const struct dh_launch *l)
{
    char *inside = dh_detector_list_inside(l->detect);
    dh_runtime_option_add("detect", inside);
    free(inside);
    if (l->focus)
        dh_focus_options(l->focus, dh_runtime_option_add);
    const char *hang_timeout = l->of_detectors.get ? l->of_detectors.get(l->of_detectors.arg, "hang-timeout") : NULL;
    if (hang_timeout)
        dh_runtime_option_add("hang_timeout", hang_timeout);
    if (!l->suppressions)
        return;
    char *path = dh_path_absolute(l->suppressions);
    dh_runtime_option_add("suppressions", path);
    free(path);
}

bool dh_launch_become(const struct dh_launch *l, struct dh_err *err)
{
    char *path = find_program(l, err);
    if (!path)
        return false;
    add_detection(l);
    if (l->private_files)
        dh_private_files(l->argv, NULL);
    execv(path, l->argv);
    dh_err_errno(err, "cannot run %s", path);
    free(path);
    return false;
}

/* ---- with something to do at its end ---- */

struct launched {
    const struct dh_launch *l;
    char *folder, *threads_file;
    struct dh_logs logs;
    struct dh_online *online; /* NULL: events are not read */
    int mark;                 /* file that its runtime marks when it begins; 0: none */
};

/* A store that cannot be used is an error before the program has run, not after. */
static bool open_logs(struct launched *s, struct dh_err *err)
{
    const char *db = s->l->db;
    if (!db)
        return true;
    struct dh_store *store = dh_store_open(db, DH_STORE_WRITE, err);
    if (!store)
        return false;
    dh_store_close(store);
    char *found = dh_program_find(s->l->argv[0]), *program = found ? dh_path_real(found) : NULL;
    char *arguments = dh_store_arguments(s->l->argv);
    struct dh_store_run run = {program ? program : s->l->argv[0], arguments, (long long)time(NULL)};
    bool ok = dh_logs_create(&s->logs, db, &run, err);
    free(found);
    free(program);
    free(arguments);
    if (ok)
        dh_runtime_option_add("log", s->logs.prefix);
    return ok;
}

/* Only what watches the stream, or keeps it, needs it read. */
static bool open_online(struct launched *s, struct dh_err *err)
{
    char *watching = dh_detector_list_watching(s->l->detect);
    struct dh_online_options o = {.command = s->l->command,
                                  .detectors = watching,
                                  .of_detectors = s->l->of_detectors,
                                  .log = s->logs.prefix,
                                  .suppressions = s->l->suppressions,
                                  .trace = s->l->trace,
                                  .bounds = s->l->bounds,
                                  .rules = s->l->rules,
                                  .report = s->l->report};
    if (*watching || s->l->trace)
        s->online = dh_online_open(&o, err);
    bool ok = s->online || !(*watching || s->l->trace);
    free(watching);
    return ok;
}

static bool open_launched(struct launched *s, struct dh_err *err)
{
    s->logs.lock = -1;
    if (!open_logs(s, err))
        return false;
    if (s->l->threads) {
        s->folder = dh_temp_folder(err);
        if (!s->folder)
            return false;
        s->threads_file = dh_format("%s/threads", s->folder);
        dh_runtime_option_add("threads_file", s->threads_file);
    }
    add_detection(s->l);
    if (s->l->waits_for_threads_ms)
        dh_runtime_option_add("atexit_sleep_ms", s->l->waits_for_threads_ms);
    if (!s->l->report)
        dh_runtime_option_add("print", "0");
    return open_online(s, err);
}

static bool list_threads(const struct launched *s, struct dh_err *err)
{
    if (dh_file_exists(s->threads_file))
        return s->l->threads(s->threads_file, err);
    dh_notice("%s: the program left no list of threads: it was killed, or is not built with 'deadheat cc'",
              s->l->command);
    return true;
}

static bool store_findings(struct launched *s, struct dh_import *stored, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(s->l->db, DH_STORE_WRITE, err);
    if (!store)
        return dh_err_while(err, "storing the findings; they stay in %s", s->logs.folder);
    bool ok = dh_logs_store(&s->logs, store, stored, err);
    dh_store_close(store);
    return ok;
}

static bool keeps(void *train, const struct dh_finding *f)
{
    return dh_trained_pairs_keep_finding(train, f);
}

/* A run that ended well shows which pairs others may come between; of one that did not, the rest is suspected. */
static bool store_and_train(struct launched *s, int status, struct dh_import *stored, struct dh_err *err)
{
    struct dh_trained_pairs t;
    const char *file = s->l->focus->train;
    if (!dh_trained_pairs_read(&t, file, err))
        return false;
    t.learning = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    stored->keeps = keeps;
    stored->arg = &t;
    bool ok = store_findings(s, stored, err);
    if (ok && t.added)
        ok = dh_trained_pairs_write(&t, file, err);
    if (ok && t.learning)
        dh_notice("%s: --train: the run passed; %zu pairs added to %s", s->l->command, t.added, file);
    else if (ok)
        dh_notice("%s: --train: the run did not pass; pairs suspected that are not in %s: %u", s->l->command, file,
                  t.suspected);
    stored->keeps = NULL;
    dh_trained_pairs_release(&t);
    return ok;
}

static void close_launched(struct launched *s)
{
    if (s->folder)
        dh_remove_tree(s->folder);
    free(s->folder);
    free(s->threads_file);
    dh_logs_release(&s->logs);
}

void dh_launch_notes(const char *command, const struct dh_import *i)
{
    for (size_t k = 0; k < i->notes.n; k++)
        dh_notice("%s: %s", command, i->notes.at[k]);
}

/* As the runtime does it when something was found. */
static int exit_code_of_findings(void)
{
    const char *options = getenv("DEADHEAT_OPTIONS"), *at = options ? strstr(options, "exitcode=") : NULL;
    return at ? atoi(at + strlen("exitcode=")) : 66;
}

/* In the new process: what its runtime writes for us stays. */
static void make_files_private(void *arg)
{
    const struct launched *s = arg;
    const char *kept[4], **k = kept;
    if (s->logs.folder)
        *k++ = s->logs.folder;
    if (s->folder)
        *k++ = s->folder;
    if (s->online)
        *k++ = dh_online_folder(s->online);
    *k = NULL;
    enum dh_files files = dh_private_files(s->l->argv, kept);
    char *mark = s->mark ? dh_file_for_program(s->mark, getppid(), files) : NULL;
    if (mark)
        dh_runtime_option_add("thread_count", mark);
    free(mark);
}

static bool run_program(struct launched *s, const char *path, int *status, struct dh_err *err)
{
    unsigned findings = 0;
    struct dh_preparation privacy = {make_files_private, s}, *before = s->l->private_files ? &privacy : NULL;
    if (!s->online)
        return dh_supervise(path, s->l->argv, before, NULL, status, err);
    struct dh_background_work reading = dh_online_work(s->online);
    struct dh_err late = {0};
    bool ok = dh_supervise(path, s->l->argv, before, &reading, status, err);
    bool closed = dh_online_close(s->online, &findings, &late);
    s->online = NULL;
    if (ok && !closed) {
        *err = late;
        return false;
    }
    dh_err_release(&late);
    int code = exit_code_of_findings();
    if (ok && findings && code && WIFEXITED(*status))
        *status = W_EXITCODE(code, 0);
    return ok;
}

/* ---- did it start? ---- */

enum { NOT_STARTED = 127 /* of the loader, and of a shell that finds nothing */ };

/* A page that the runtime marks when it begins. */
static struct dh_thread_count *mark_start(int *file)
{
    *file = memfd_create("started", MFD_CLOEXEC);
    struct dh_thread_count *count = MAP_FAILED;
    if (*file >= 0 && ftruncate(*file, sizeof *count) == 0)
        count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (count == MAP_FAILED)
        return NULL;
    char *path = dh_format("/proc/%d/fd/%d", (int)getpid(), *file);
    dh_runtime_option_add("thread_count", path);
    free(path);
    return count;
}

static bool run_asking(struct launched *s, const char *path, int *status, struct dh_err *err)
{
    int file = -1;
    struct dh_thread_count *count = s->l->started ? mark_start(&file) : NULL;
    s->mark = count ? file : 0;
    bool ok = run_program(s, path, status, err);
    if (s->l->started)
        *s->l->started = !ok || !count || count->loaded || dh_status_code(*status) != NOT_STARTED;
    if (s->l->made_threads)
        *s->l->made_threads = count && (count->threads || count->others);
    if (count)
        munmap(count, sizeof *count);
    if (file >= 0)
        close(file);
    return ok;
}

bool dh_launch(const struct dh_launch *l, int *status, struct dh_import *stored, struct dh_err *err)
{
    struct launched s = {.l = l, .logs.lock = -1};
    char *path = find_program(l, err);
    if (!path)
        return false;
    bool ok = open_launched(&s, err) && run_asking(&s, path, status, err);
    ok = ok && (!l->threads || list_threads(&s, err));
    bool trains = l->focus && l->focus->train;
    ok = ok && (!l->db || (trains ? store_and_train(&s, *status, stored, err) : store_findings(&s, stored, err)));
    close_launched(&s);
    free(path);
    dh_launch_notes(l->command, stored);
    return ok;
}

/* The environment as it was before the variant was looked for. */
static void forget_variant(void)
{
    forget_libraries();
    unsetenv("DEADHEAT_PROGRAM");
}

bool dh_launch_exec_variant(const char *executable, const char *plan, char **argv, struct dh_err *err)
{
    char *variant = *plan ? variant_of(executable, plan, err) : NULL;
    if (variant) {
        execv(variant, argv);
        dh_err_errno(err, "cannot run %s", variant);
        forget_variant();
    }
    if (*plan)
        setenv("DEADHEAT_AS_LINKED", err->text ? err->text : "no reason is known", 1);
    execv(executable, argv);
    return dh_err_errno(err, "cannot run %s", executable);
}
