/* Memory that the program named in a system call: copied by the kernel, so that a wild pointer is EFAULT and no crash.
 * Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_USER_MEMORY_H
#define DH_RUNTIME_ENGINE_SYSTEM_USER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

bool dh_user_read(void *to, long from, size_t n);
bool dh_user_write(long to, const void *from, size_t n);
/* Its length, or -EFAULT, or -ENAMETOOLONG if it does not fit with its NUL. */
long dh_user_read_text(char *to, size_t n, long from);

#endif
