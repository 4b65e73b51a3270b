/* Created threads, counted for the tool (event/thread_count.h). Layer: runtime. Any thread. */
#ifndef DH_RUNTIME_CORE_THREAD_COUNT_H
#define DH_RUNTIME_CORE_THREAD_COUNT_H

void dh_thread_count_add(void);

#endif
