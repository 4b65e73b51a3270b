/* Starting the user's program as its variant, for every command that runs one. Layer: launch. Sets variables of this
 * process's environment; notices are of what happened, errors say whose they are (dh_err.is_usage). */
#ifndef DH_LAUNCH_LAUNCH_H
#define DH_LAUNCH_LAUNCH_H

#include "detect/detector.h"
#include "finding/log_import.h"
#include "launch/focus.h"
#include "trace/dht.h"

#include <stdbool.h>

struct dh_launch {
    const char *command;      /* name of the command, for messages */
    const char *plan;         /* classes of hooks */
    const char *detect;       /* detectors, "none" without any */
    const char *db;           /* store for what they find; NULL = none */
    const char *suppressions; /* file; NULL = none */
    /* Gets the file that lists the program's threads when it has ended; NULL: it is not wanted. */
    bool (*threads)(const char *file, struct dh_err *err);
    void (*report)(const char *text); /* prints the report of a finding as it happens; NULL = they are only stored */
    struct dh_detector_options of_detectors; /* .get NULL = their defaults */
    const char *trace;                       /* file to record to; NULL = none */
    struct dh_dht_options bounds;            /* of the trace */
    const char *rules;                       /* file of which accesses count; NULL = all */
    const struct dh_focus *focus;            /* sites, sections and noise; NULL = none */
    bool starts_others; /* a program that is none of ours (make, a shell) is executed as it is: it starts those that are
                         */
    bool private_files; /* what the program writes to files is gone after it, where the system allows that */
    bool *
        started; /* gets false when the program ended before its runtime began: a library is missing; NULL: not asked */
    bool *made_threads;               /* with `started`: the program or its children created one; NULL: not asked */
    const char *waits_for_threads_ms; /* at the end, for those that compute or sleep; NULL = not at all */
    char **argv;
};

/* Whether the file is built with 'deadheat cc'; a script, make and the like are not. */
bool dh_launch_is_ours(const char *file);
bool dh_launch_is_binary(const char *file);
/* Hooks of a library do nothing in a program without the runtime: that is an error, which names the library. */
bool dh_launch_can_run(const char *program, struct dh_err *err);
/* What is to be executed for the program, which must be a binary: its variant, with the environment that leads to its
 * libraries; `file` gets the program itself. Both owned by the caller. */
char *dh_launch_variant(const struct dh_launch *l, char **file, struct dh_err *err);
/* Becomes the program; answers only when that failed. */
bool dh_launch_become(const struct dh_launch *l, struct dh_err *err);
/* Runs it to its end, with status as of waitpid, and stores what was found. */
bool dh_launch(const struct dh_launch *l, int *status, struct dh_import *stored, struct dh_err *err);
/* Becomes the variant of the executable: what the runtime asks for at the start of a program that another one started.
 * Where there is none the program runs as it was linked. Answers only when neither could be executed. */
bool dh_launch_exec_variant(const char *executable, const char *plan, char **argv, struct dh_err *err);
/* Adds to DEADHEAT_OPTIONS, for all that is started from here. */
void dh_runtime_option_add(const char *key, const char *value);
/* Notices on damaged logs. */
void dh_launch_notes(const char *command, const struct dh_import *i);

#endif
