/* Equal strings, constants and places of a program under work, each kept once. Layer: model, for its own files. */
#ifndef DH_MODEL_BUILD_H
#define DH_MODEL_BUILD_H

struct dh_program_index;
struct dh_program_index *dh_build_index_new(void);
void dh_build_index_free(struct dh_program_index *index);

#endif
