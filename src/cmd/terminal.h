/* The terminal of a long command: its width, and Ctrl-C, which ends the job with what it has; a second one ends the
 * command at once. Layer: cmd. One job at a time. */
#ifndef DH_CMD_TERMINAL_H
#define DH_CMD_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Columns of the terminal that the descriptor is, or `otherwise`. */
unsigned dh_terminal_width(int fd, unsigned otherwise);

/* What takes long below, such as deriving a variant, is shown on standard error; if that is no terminal, by a line
 * every ten seconds. */
void dh_terminal_show_activity(void);
/* Whether it is time for such a line, which is written then; the first call begins the time. False on a terminal. */
bool dh_terminal_line_is_due(void);

void dh_interrupts_begin(void);
void dh_interrupts_end(void);
/* For hosts of campaigns; the argument is not used. */
bool dh_interrupted(void *arg);

#endif
