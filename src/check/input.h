/* Standard input of a program that is run many times: what it reads in the first run is what it gets in all others.
 * Layer: check. */
#ifndef DH_CHECK_INPUT_H
#define DH_CHECK_INPUT_H

#include "host/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct dh_check_input {
    char *path;     /* for the others; NULL: nothing */
    int descriptor; /* for the first; -1: ours as it is */
    pid_t copying;  /* process that writes `path` meanwhile; 0: none */
    bool is_kept;   /* made by us, for witnesses that name it */
};

/* A file, ours or the user's, is read again; what comes through a pipe is kept in `folder` while the first run reads
 * it; from a terminal or from nothing comes nothing later. `given`: file, or NULL. */
bool dh_check_input_open(struct dh_check_input *in, const char *given, const char *folder, struct dh_err *err);
/* The first run is over: what it did not read is not needed. */
void dh_check_input_end(struct dh_check_input *in);
void dh_check_input_release(struct dh_check_input *in);

#endif
