/* Instrumented libraries of the program: which places each has, as the tool says (event/engine.h), and where they lie.
 * Layer: runtime. A library that the tool does not name has places that cannot be visible, and is counted. */
#ifndef DH_RUNTIME_ENGINE_LIBRARIES_H
#define DH_RUNTIME_ENGINE_LIBRARIES_H

#include "event/engine.h"

/* From here on libraries that join are numbered as the control region says. */
void dh_engine_libraries_start(void);
/* Where each lies now. */
void dh_engine_libraries_images(struct dh_engine_image out[DH_ENGINE_LIBRARIES]);

#endif
