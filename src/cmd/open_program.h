/* The program of a command line, opened for searches by the engine. Layer: cmd. Complains by itself. */
#ifndef DH_CMD_OPEN_PROGRAM_H
#define DH_CMD_OPEN_PROGRAM_H

#include "cmd/command.h"
#include "prove/subject.h"

/* The one that the operands name, with the standard input that --input does and under the
 * policy of --heal; `folder` gets where its witnesses go (-o,
 * or beside the store --db), owned by the caller. False with an exit code: nothing is to be released then. */
bool dh_open_program(const char *command, const struct dh_parsed *p, struct dh_subject *s, char **folder, int *code);
/* The same from its words alone; both are borrowed. */
bool dh_open_words(const char *command, char **argv, const char *input, struct dh_subject *s, int *code);

#endif
