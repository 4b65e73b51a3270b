#include "classify/oracle.h"

#include "host/file.h"
#include "host/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define PATIENCE_NS 30000000000ull

/* ---- a command ---- */

/* The folder is ours: nothing in its name asks for quoting. */
static char *command_line(const char *command, const char *file)
{
    struct dh_str s = {0};
    dh_str_add(&s, "exec </dev/null >/dev/null 2>&1\n");
    for (const char *at; (at = strstr(command, DH_ORACLE_FILE)); command = at + strlen(DH_ORACLE_FILE))
        dh_str_addf(&s, "%.*s%s", (int)(at - command), command, file);
    dh_str_add(&s, command);
    return dh_str_take(&s);
}

static bool run_command(const char *command, const char *output, size_t n, int *status, struct dh_err *err)
{
    char *folder = dh_temp_folder(err);
    if (!folder)
        return false;
    char *file = dh_format("%s/out", folder), *line = command_line(command, file);
    struct dh_argv a = {0};
    dh_argv_add(&a, "/bin/sh");
    dh_argv_add(&a, "-c");
    dh_argv_add(&a, line);
    bool ok = dh_file_write(file, output, n, 0600, err) && dh_process_run(&a, NULL, status, err);
    dh_argv_release(&a);
    dh_remove_tree(folder);
    free(line);
    free(file);
    free(folder);
    return ok;
}

bool dh_oracle_ask(const char *command, const char *output, size_t n, bool *accepts, struct dh_err *err)
{
    int status = 0;
    bool ok = run_command(command, output, n, &status, err);
    *accepts = ok && status == 0;
    return ok;
}

bool dh_oracle_check(const char *command, const struct dh_subject *s, struct dh_err *err)
{
    struct dh_replayed how;
    struct dh_schedule nothing = {0};
    int status = 0;
    if (!strstr(command, DH_ORACLE_FILE))
        return dh_err_set(
            err, "classify: --oracle=%s: " DH_ORACLE_FILE " must stand in it for the output that is to be judged",
            command);
    if (!dh_replay(&s->start, &nothing, DH_REPLAY_GO_ON | DH_REPLAY_NO_RACES | DH_REPLAY_CAPTURE, PATIENCE_NS, &how,
                   err))
        return false;
    bool ok = run_command(command, how.output.at ? how.output.at : "", how.output.n, &status, err);
    dh_replayed_release(&how);
    if (!ok || !status)
        return ok;
    char *words = dh_status_text(status);
    dh_err_set(err, "classify: --oracle=%s fails on %s as it is (%s): no baseline", command, s->called, words);
    free(words);
    return false;
}

/* ---- sanitizers ---- */

char *dh_sanitizer_line(const char *output)
{
    static const char *const marks[] = {"Sanitizer: ", ": runtime error: "};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(output, marks[i]);
        found = at && (!found || at < found) ? at : found;
    }
    if (!found)
        return NULL;
    const char *from = found;
    while (from > output && from[-1] != '\n')
        from--;
    return dh_format("%.*s", (int)strcspn(from, "\n"), from);
}
