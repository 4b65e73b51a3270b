/* One-line notices to the user from rooms that do not print: what could not be done, what was left out. Layer: host.
 * The command installs the function that prints them; forked children inherit it. Without one they are dropped. */
#ifndef DH_HOST_NOTICE_H
#define DH_HOST_NOTICE_H

#include "host/err.h"

void dh_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The error as a notice; releases it. */
void dh_notice_err(struct dh_err *err);

/* `print` gets each line without its end. */
void dh_notices_print_by(void (*print)(const char *line));

#endif
