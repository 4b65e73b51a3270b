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

/* A file with the next numbers; its end is far. Negative: there is no memory for it. */
static long random_file(void)
{
    long fd = dh_syscall3(SYS_memfd_create, (long)"random", MFD_CLOEXEC, 0);
    long at = fd < 0 || dh_syscall3(SYS_ftruncate, fd, DEVICE_SIZE, 0) < 0
                  ? -1
                  : dh_syscall6(SYS_mmap, 0, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if ((unsigned long)at > -4096UL) {
        if (fd >= 0)
            dh_sys_close((int)fd);
        return -1;
    }
    dh_engine_early_random((void *)at, DEVICE_SIZE);
    dh_sys_munmap((void *)at, DEVICE_SIZE);
    return fd;
}

void dh_engine_opened_early(int opened, const char *path)
{
    long file = opened >= 0 && dh_engine_draws_early() && is_device(path) ? random_file() : -1;
    if (file < 0)
        return;
    bool closes = dh_syscall3(SYS_fcntl, opened, F_GETFD, 0) & FD_CLOEXEC;
    dh_syscall3(SYS_dup3, file, opened, closes ? O_CLOEXEC : 0);
    dh_sys_close((int)file);
}
