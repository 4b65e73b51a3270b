/* Starting the user's program as its variant, for every command that runs one. Layer: cmd. Complains by itself. */
#ifndef DH_CMD_LAUNCH_H
#define DH_CMD_LAUNCH_H

#include "cmd/focus.h"
#include "finding/log_import.h"
#include "trace/dht.h"

#include <stdbool.h>

struct dh_launch {
    const char *command;            /* whose it is, for messages */
    const char *plan;               /* classes of hooks */
    const char *detect;             /* detectors, "none" without any */
    const char *db;                 /* store for what they find; NULL = none */
    const char *suppressions;       /* file; NULL = none */
    bool threads;                   /* list them on standard error at the end */
    bool quiet;                     /* findings are stored, not told as they happen */
    const struct dh_parsed *parsed; /* options of detectors; NULL = their defaults */
    const char *trace;              /* file to record to; NULL = none */
    struct dh_dht_options bounds;   /* of the trace */
    const char *rules;              /* file of which accesses count; NULL = all */
    const struct dh_focus *focus;   /* sites, sections and noise; NULL = none */
    char **argv;
};

/* Whether every word of the list is a detector; complains. */
bool dh_launch_check_detectors(const char *command, const char *list);
/* Whether the file of suppressions can be read and says nothing malformed; complains. NULL is no file. */
bool dh_launch_check_suppressions(const char *command, const char *path);
/* What is to be executed for the program, which must be a binary: its variant, with the environment that leads to its
 * libraries; `file` gets the program itself. NULL with an exit code. Both owned by the caller. */
char *dh_launch_variant(const struct dh_launch *l, char **file, int *code);
/* Becomes the program; answers only when that failed, with an exit code. */
int dh_launch_become(const struct dh_launch *l);
/* Runs it to its end and stores what was found. DH_EXIT_OK when both were done, else the exit code. */
int dh_launch(const struct dh_launch *l, int *status, struct dh_import *stored);
/* Complains about damaged logs. */
void dh_launch_notes(const char *command, const struct dh_import *i);

#endif
