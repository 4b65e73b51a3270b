/* The beginning and the end of the checked process. Layer: runtime. Written by the one thread there is at the
 * start, constant afterwards but for `pid`, which a forked child sets anew. */
#ifndef DH_RUNTIME_CORE_START_H
#define DH_RUNTIME_CORE_START_H

#include <stdbool.h>
#include <stdint.h>

struct dh_process {
    bool started;
    bool forked;           /* not the process that started, but a child of it */
    int pid;               /* differs from getpid() in a child made by vfork or a raw system call */
    const char *path;      /* of the executable, absolute where that is known */
    const char *original;  /* of the program this is a derived variant of, or NULL */
    const char *libraries; /* folder of variants of the libraries that it opens, or NULL */
    bool restarted;        /* by us, without address randomisation */
    /* Regions shared with the tool, of the schedule engine and of adversarial memory, or NULL: what the environment
     * names, unless the process has more rights than its user. */
    const char *engine_region, *stale_region;
};

extern struct dh_process dh_process;

/* The memory layout is checked before anything else (race/layout.c): nothing in the environment counts unless
 * `trusted`. */
void dh_layout_begin(char **argv, char **envp, bool trusted);
/* In a child that shares no memory with its parent, first of all. */
void dh_process_forked(void);
/* For interposed functions: makes sure that the real ones are known. */
void dh_start_early(void);
/* Writes what was asked for at exit, once per process; for every way out that we see. */
void dh_finish(void);
/* At the start: asks libc to be called at the end. */
void dh_finish_register(void);

/* What the instrumented program says about itself; weak defaults in defaults.c. */
extern const char __dh_variant[];
extern const uint8_t __dh_module_id[16];
extern const uint32_t __dh_site_count;
extern const char __dh_tool[]; /* path of the tool that linked it, or "" */

#endif
