/* Commands on a script, make or a test harness: each program of ours that it starts is a subject, for which the command
 * runs again, in the folder and environment that it was started with. Layer: cmd. */
#ifndef DH_CMD_SUBJECTS_H
#define DH_CMD_SUBJECTS_H

#include "base/str.h"
#include "cmd/command.h"
#include "launch/subject_record.h"

/* Set for the command of a subject whose output is a line of somebody else's table. */
#define DH_PART_VARIABLE "DEADHEAT_PART"

/* Whether the operand is a program that is none of ours but can be run. */
bool dh_is_script(const char *program);

/* The subjects of a run whose records are in the folder; what came to them through pipes is kept beside the store. */
bool dh_subjects_read(const struct dh_parsed *p, const char *folder, struct dh_subject_records *out,
                      struct dh_err *err);

/* There was none: prints the line and answers the exit code. */
int dh_no_subjects(const char *command, const char *called);

/* For commands on one program: parses, then calls fn. Of a script it is run once, said what the subjects are, and the
 * command runs for those that make threads, which share --budget. Answers the exit code. */
int dh_command_on_program(const struct dh_command *c, int argc, char **argv, int (*fn)(const struct dh_parsed *p));
/* The exit code of two parts. */
int dh_worse_exit(int a, int b);

/* Runs the command for a subject: option values of the call but budget, input and db, then those of the subject.
 * `out` gets what it prints, or NULL. Answers its exit code. */
int dh_subject_run(const struct dh_parsed *p, const struct dh_command *c, const struct dh_subject_record *r,
                   uint64_t budget_ns, struct dh_str *out);

#endif
