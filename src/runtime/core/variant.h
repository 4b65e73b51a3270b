/* Becoming the variant that `deadheat run` asked for, in programs that its program starts. Layer: runtime. At the
 * start only. Such a program is not ours to end: where the variant is not to be had, it runs as it was linked. */
#ifndef DH_RUNTIME_CORE_VARIANT_H
#define DH_RUNTIME_CORE_VARIANT_H

/* Returns when there is nothing to become, or when it cannot be. */
void dh_variant_become(int argc, char **argv, char **envp);
/* Once options are read: says that this is not the variant asked for, and why. */
void dh_variant_confess(void);

/* Before a thread is created: the subject that this program is (launch/subject_record.h) has threads. */
void dh_variant_note_threads(void);

#endif
