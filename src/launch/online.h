/* What reads the events of a program while it runs: detectors that watch the stream, and a trace. Layer: launch. Each
 * process of the run is watched by itself. Findings are reported as they come and kept in logs. */
#ifndef DH_LAUNCH_ONLINE_H
#define DH_LAUNCH_ONLINE_H

#include "detect/detector.h"
#include "host/supervise.h"
#include "trace/dht.h"

struct dh_online_options {
    const char *command;                     /* for messages */
    const char *detectors;                   /* of the stream, "" without any */
    struct dh_detector_options of_detectors; /* .get NULL: their defaults */
    const char *log;                         /* prefix of findings logs; NULL: none */
    const char *suppressions;                /* file; NULL: none */
    const char *trace;                       /* file to write; NULL: none. Of further processes: with their number */
    struct dh_dht_options bounds;            /* of the trace */
    const char *rules;                       /* file of rules that say which accesses count; NULL: all */
    void (*report)(const char *text);        /* prints the report of a finding; NULL: none is printed */
};

struct dh_online;
/* Sets DEADHEAT_OPTIONS for the program's runtime. */
struct dh_online *dh_online_open(const struct dh_online_options *o, struct dh_err *err);
/* For dh_supervise. */
struct dh_background_work dh_online_work(struct dh_online *o);
/* Where the program's runtime writes what is read here. */
const char *dh_online_folder(const struct dh_online *o);
/* The program has ended: what is left is reported. False with the first thing that went wrong; findings counts in
 * either case. */
bool dh_online_close(struct dh_online *o, unsigned *findings, struct dh_err *err);

#endif
