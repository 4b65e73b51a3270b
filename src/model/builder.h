/* Interning of strings, constants and source locations while a program is built. Layer: model, for its own files. */
#ifndef DH_MODEL_BUILDER_H
#define DH_MODEL_BUILDER_H

struct dh_program_interner;
struct dh_program_interner *dh_program_interner_new(void);
void dh_program_interner_free(struct dh_program_interner *index);

#endif
