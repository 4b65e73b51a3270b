/* Options that commands which run a program have in common: sites and noise, healing, detectors, what is searched.
 * Layer: cmd. What is wrong with them is printed here. */
#ifndef DH_CMD_RUN_OPTIONS_H
#define DH_CMD_RUN_OPTIONS_H

#include "cmd/command.h"
#include "detect/detector.h"
#include "launch/focus.h"
#include "prove/subject.h"

/* Options of a command that runs a program, in the words of its table. */
#define DH_FOCUS_OPTIONS                                                                                               \
    {"sites", DH_OPTION_STRING, "TARGET,...", NULL,                                                                    \
     "where atomrace looks: var:NAME, fun:NAME, file:NAME, loc:FILE:LINE; without this, everywhere"},                  \
        {"sections", DH_OPTION_STRING, "FILE", NULL,                                                                   \
         "sections of the program that atomrace takes to be atomic (docs/formats/sections.md)"},                       \
        {"noise", DH_OPTION_STRING, "CLAUSE;...", NULL,                                                                \
         "delays that make rare interleavings likely: random[,FREQ[,STRENGTH[,sleep|yield|busy]]], sync, var:NAME, "   \
         "loc:FILE:LINE in the same way (FREQ of 1000, STRENGTH as 50us), auto:N% of the time where conflicting "      \
         "accesses have not met yet; var:@suspected and loc:@findings take targets from the store"},                   \
        {"seed", DH_OPTION_STRING, "N", NULL, "where the chances of noise begin (default: 1)"},                        \
        {"train", DH_OPTION_STRING, "FILE", NULL,                                                                      \
         "atomrace: suspect every pair of accesses that another thread came between, but for those in FILE; a run "    \
         "that ends well adds its own to FILE"}

void dh_focus_read(struct dh_focus *f, const struct dh_parsed *p);

#define DH_HEAL_OPTIONS                                                                                                \
    {"heal", DH_OPTION_STRING, "POLICY", NULL,                                                                         \
     "run under a healing policy, as 'deadheat heal' writes them (docs/healing.md)"},                                  \
        {"partly", DH_OPTION_FLAG, NULL, NULL, "apply what matches of a policy that no longer matches whole"}

#define DH_CHILD_OPTION                                                                                                \
    {"child", DH_OPTION_STRING, "N|NAME", NULL,                                                                        \
     "explore the threads of this child process: the Nth that the program starts, or the first that executes NAME; "   \
     "without it the program's own, or, if it has none, those of each child that has"}

/* The plan with the policy of --heal in it, owned by the caller; a copy of it without one. NULL: a line was printed. */
char *dh_heal_plan(const struct dh_parsed *p, const char *command, const char *plan, const char *program);

/* Whether every word of the list is a detector. */
bool dh_detectors_option_check(const char *command, const char *list);
/* Options of detectors, as the command line has them. Borrows p. */
struct dh_detector_options dh_options_of_detectors(const struct dh_parsed *p);
/* On standard error, with one call, so that it does not mix with what the program prints. */
void dh_print_report(const char *text);

/* The program that the operands name as the subject of searches, with the standard input of --input and under the
 * policy of --heal; `folder` gets where its witnesses go (-o, or beside the store --db), owned by the caller. False
 * with an exit code: nothing is to be released then. */
bool dh_open_program(const char *command, const struct dh_parsed *p, struct dh_subject *s, char **folder, int *code);

#endif
