/* How many threads a program and its children create, in a page that they share with the tool. Layer: event. The tool
 * makes it and names it by the runtime option thread_count. */
#ifndef DH_EVENT_THREAD_COUNT_H
#define DH_EVENT_THREAD_COUNT_H

#include <stdint.h>

struct dh_thread_count {
    uint32_t process; /* the first one */
    uint32_t threads; /* that it created */
    uint32_t others;  /* that its children did */
    uint32_t loaded;  /* the runtime found this page */
};

#endif
