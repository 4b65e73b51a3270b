/* Imports the findings logs of a run into the store. Layer: finding. Logs lie in a folder beside the store
 * (DB.logs/XXXXXX) until they are imported: after a crash or a full disk the next command imports them. The process
 * that created the folder holds a file lock in it; a folder without lock is abandoned. */
#ifndef DH_FINDING_LOG_IMPORT_H
#define DH_FINDING_LOG_IMPORT_H

#include "base/vec.h"
#include "finding/store.h"

#include <stdbool.h>

struct dh_logs {
    char *folder, *prefix; /* prefix: for the runtime's option `log` */
    int lock;
};

struct dh_import {
    long long run;                                        /* id of the last one stored */
    unsigned findings;                                    /* records that were read */
    bool (*keeps)(void *arg, const struct dh_finding *f); /* asked for each, if set */
    void *arg;
    DH_VEC(char *) notes; /* damage, and notes of processes; a line each */
};

bool dh_logs_create(struct dh_logs *l, const char *db, const struct dh_store_run *run, struct dh_err *err);
/* Imports them in one transaction and removes the folder; on failure the folder stays. */
bool dh_logs_store(struct dh_logs *l, struct dh_store *s, struct dh_import *i, struct dh_err *err);
/* Calls fn for every finding in the logs at that prefix so far, except logs whose names end with `except`. Stores
 * nothing; skips what cannot be read. */
void dh_logs_each_finding(const char *prefix, const char *except, void (*fn)(void *arg, const struct dh_finding *f),
                          void *arg);
/* Forgets the folder without removing what is in it. */
void dh_logs_release(struct dh_logs *l);
/* Folders whose process is gone. */
bool dh_logs_store_abandoned(const char *db, struct dh_store *s, struct dh_import *i, struct dh_err *err);
bool dh_logs_have_abandoned(const char *db);
void dh_import_release(struct dh_import *i);

#endif
