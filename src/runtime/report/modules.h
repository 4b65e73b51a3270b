/* Addresses of the process as (module, offset), and the modules of one report. Layer: runtime, for report.c, under the
 * report's lock. Acquires no lock of the dynamic linker: a signal handler inside of it may report. */
#ifndef DH_RUNTIME_REPORT_MODULES_H
#define DH_RUNTIME_REPORT_MODULES_H

#include "event/finding_log.h"

void dh_report_modules_begin(void);
/* The modules that were used since. */
const struct dh_log_module *dh_report_modules_end(uint32_t *n);
/* Code or data; without a module the address itself. */
struct dh_log_address dh_report_address(uintptr_t address);
/* Index of the module that holds the address, or DH_LOG_NONE. */
uint32_t dh_report_module_of(uintptr_t address);

#endif
