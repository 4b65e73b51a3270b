/* Source lines at debug locations, to tell apart union members of the same layout. Layer: ir. Missing or changed files
 * are no error; the answer is then "no". */
#ifndef DH_IR_SOURCE_TEXT_H
#define DH_IR_SOURCE_TEXT_H

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>

struct dh_source_texts; /* files read so far */

struct dh_source_texts *dh_source_texts_new(void);
void dh_source_texts_free(struct dh_source_texts *s);
/* Whether every identifier of `path` stands on the line of `location` as a word. */
bool dh_source_texts_mention(struct dh_source_texts *s, LLVMMetadataRef location, const char *path);

#endif
