/* The source text at a debug location, for what the IR cannot tell: which of two members of a union with the same
 * layout was meant. Layer: ir. Missing or changed files are no error; the answer is then "no". */
#ifndef DH_IR_SOURCE_LINE_H
#define DH_IR_SOURCE_LINE_H

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>

struct dh_sources; /* files read so far */

struct dh_sources *dh_sources_new(void);
void dh_sources_free(struct dh_sources *s);
/* Whether every identifier of `path` stands on the line of `location` as a word. */
bool dh_sources_mention(struct dh_sources *s, LLVMMetadataRef location, const char *path);

#endif
