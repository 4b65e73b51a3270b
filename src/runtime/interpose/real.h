/* The functions that ours stand before. Layer: runtime. Filled once by dh_real_init: looked up lazily they would
 * wipe the program's dlerror. A field is NULL before that, and where libc does not have the function. */
#ifndef DH_RUNTIME_INTERPOSE_REAL_H
#define DH_RUNTIME_INTERPOSE_REAL_H

#include "runtime/interpose/undeclared.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

struct dh_real {
#define DH_REAL(name, version) __typeof__(name) *name;
#include "runtime/interpose/real_list.def"
#undef DH_REAL
};

extern struct dh_real dh_real;
extern bool dh_real_known;

/* Does it once. The dynamic linker may call malloc meanwhile and so come back here: then not all are known yet. */
void dh_real_init(void);
/* A function of a library that was loaded privately: what its caller would find without us. */
void *dh_real_of_caller(const char *name, const uintptr_t *call_slot);

#endif
