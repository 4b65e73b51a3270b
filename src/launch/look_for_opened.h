/* Which instrumented libraries a program opens by itself (dlopen). Layer: launch. */
#ifndef DH_LAUNCH_LOOK_FOR_OPENED_H
#define DH_LAUNCH_LOOK_FOR_OPENED_H

#include "prove/subject.h"

/* Runs it once, undisturbed, if it may open libraries and no run of these arguments was looked at. True: there are new
 * ones, and the subject must be opened again. */
bool dh_look_for_opened_libraries(const struct dh_subject *s);

#endif
