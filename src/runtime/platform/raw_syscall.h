/* System calls without libc. Layer: runtime. The runtime never calls what it interposes, never touches errno,
 * and is usable where libc is not ready. Answers are the kernel's: negative errno on failure. Async-signal-safe. */
#ifndef DH_RUNTIME_PLATFORM_RAW_SYSCALL_H
#define DH_RUNTIME_PLATFORM_RAW_SYSCALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long dh_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long dh_syscall3(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static inline long dh_sys_write(int fd, const void *bytes, size_t n)
{
    return dh_syscall3(SYS_write, fd, (long)bytes, (long)n);
}

/* `at` is AT_FDCWD based; flags and mode as open(2). */
static inline long dh_sys_open(const char *path, int flags, int mode)
{
    return dh_syscall6(SYS_openat, -100, (long)path, flags, mode, 0, 0);
}

static inline long dh_sys_close(int fd)
{
    return dh_syscall3(SYS_close, fd, 0, 0);
}

static inline void *dh_sys_mmap(size_t size, int prot, int flags)
{
    long at = dh_syscall6(SYS_mmap, 0, (long)size, prot, flags, -1, 0);
    return (unsigned long)at > -4096UL ? NULL : (void *)at;
}

static inline long dh_sys_munmap(void *at, size_t size)
{
    return dh_syscall3(SYS_munmap, (long)at, (long)size, 0);
}

static inline int dh_sys_getpid(void)
{
    return (int)dh_syscall3(SYS_getpid, 0, 0, 0);
}

static inline int dh_sys_gettid(void)
{
    return (int)dh_syscall3(SYS_gettid, 0, 0, 0);
}

static inline long dh_sys_readlink(const char *path, char *out, size_t n)
{
    return dh_syscall3(SYS_readlink, (long)path, (long)out, (long)n);
}

static inline long dh_sys_getcwd(char *out, size_t n)
{
    return dh_syscall3(SYS_getcwd, (long)out, (long)n, 0);
}

static inline long dh_sys_prctl(int option, unsigned long a)
{
    return dh_syscall6(SYS_prctl, option, (long)a, 0, 0, 0, 0);
}

static inline long dh_sys_execve(const char *path, char *const *argv, char *const *envp)
{
    return dh_syscall3(SYS_execve, (long)path, (long)argv, (long)envp);
}

__attribute__((noreturn)) static inline void dh_sys_exit_group(int status)
{
    for (;;)
        dh_syscall3(SYS_exit_group, status, 0, 0);
}

#endif
