/* Subjects of a run: each instrumented program that a script, make or a test harness starts, with its words, folder,
 * environment and input. Layer: launch. A program that finds DEADHEAT_SUBJECTS (a folder) when it starts has the tool
 * write a record there, and marks it when it makes a thread; the reader takes those that differ, in order. */
#ifndef DH_LAUNCH_SUBJECT_RECORD_H
#define DH_LAUNCH_SUBJECT_RECORD_H

#include "base/vec.h"
#include "host/err.h"

#include <stdbool.h>

#define DH_SUBJECTS_VARIABLE "DEADHEAT_SUBJECTS"
#define DH_REPORTED_VARIABLE "DEADHEAT_REPORTED" /* the record of the program that is about to start */

struct dh_subject_record {
    char *program, *folder;
    char *input;                      /* file of its standard input, or "": none */
    char *note;                       /* why its input is not known, or "" */
    bool threads;                     /* it, or a child that it forked, made threads */
    unsigned runs;                    /* how often it was started like this */
    DH_VEC(char *) argv, environment; /* end with NULL */
};

struct dh_subject_records {
    DH_VEC(struct dh_subject_record) at;
    unsigned with_threads;
};

/* In the process that is about to become the program: writes its record and sets DH_REPORTED_VARIABLE. Without
 * DH_SUBJECTS_VARIABLE, or when it cannot, nothing. */
void dh_subject_record_write(const char *program, char **argv);

/* A folder for records, and the environment that makes programs write them. Owned by the caller. */
char *dh_subject_records_begin(struct dh_err *err);
/* No program writes any from here on; reads those there are. */
bool dh_subject_records_end(const char *folder, struct dh_subject_records *out, struct dh_err *err);
/* Copies what came through pipes from the folder of records to where it stays. */
bool dh_subject_records_keep_inputs(struct dh_subject_records *r, const char *from, const char *to, struct dh_err *err);
void dh_subject_records_release(struct dh_subject_records *r);

/* Becomes the process that runs the command in the folder and environment of the subject. */
void dh_subject_record_enter(const struct dh_subject_record *r);
/* "cd FOLDER && PROG ARG...", without the first part if that is our folder. Owned by the caller. */
char *dh_subject_record_words(const struct dh_subject_record *r);

#endif
