/* Text form of the abstract program: what `scan --dump=model` prints and tests of analyses are written in. Layer:
 * model. Printing a parsed program gives the same text. Grammar: docs/formats/program.md. */
#ifndef DH_MODEL_TEXT_H
#define DH_MODEL_TEXT_H

#include "base/str.h"
#include "host/err.h"
#include "model/program.h"

void dh_program_print(const struct dh_program *p, struct dh_str *out);
/* One instruction without line end: for messages. */
void dh_inst_print(const struct dh_program *p, const struct dh_inst *i, struct dh_str *out);
/* `p` is initialised here and released by the caller in any case; finished when true. Messages name the line. */
bool dh_program_parse(struct dh_program *p, const char *name, const char *text, struct dh_err *err);

#endif
