/* What a long step is doing, for rooms that do not print. Layer: host. The command installs what shows it; forked
 * children inherit that. Without it nothing is shown. */
#ifndef DH_HOST_ACTIVITY_H
#define DH_HOST_ACTIVITY_H

void dh_activity_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* `show` gets a line without its end; NULL when the step is over. */
void dh_activity_show_by(void (*show)(const char *line));
/* The step is over. */
void dh_activity_end(void);

#endif
