/* Random numbers that the program draws before its first thread: seeds of hashes, which decide what is compared and
 * copied later. They are the same in every search and replay; from the first thread on random_bytes.h has them. */
#include "base/random.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { DEVICE_SIZE = 1 << 20 };

static uint64_t state;

bool dh_engine_draws_early(void)
{
    return dh_engine && !dh_engine_on;
}

void dh_engine_early_random(void *out, size_t n)
{
    unsigned char *bytes = out;
    for (size_t i = 0; i < n; i++)
        bytes[i] = dh_random_byte(&state);
}

static bool is_device(const char *path)
{
    return dh_text_equal(path, "/dev/urandom") || dh_text_equal(path, "/dev/random");
}

/* A file with the next numbers; its end is far. */
int dh_engine_open_early_random(const char *path, int flags)
{
    if (!dh_engine_draws_early() || !path || !is_device(path))
        return -1;
    long fd = dh_syscall3(SYS_memfd_create, (long)"random", flags & O_CLOEXEC ? MFD_CLOEXEC : 0, 0);
    if (fd < 0 || dh_syscall3(SYS_ftruncate, fd, DEVICE_SIZE, 0) < 0)
        return -1;
    long at = dh_syscall6(SYS_mmap, 0, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if ((unsigned long)at > -4096UL) {
        dh_sys_close((int)fd);
        return -1;
    }
    dh_engine_early_random((void *)at, DEVICE_SIZE);
    dh_sys_munmap((void *)at, DEVICE_SIZE);
    return (int)fd;
}
