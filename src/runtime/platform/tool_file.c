#include "runtime/platform/tool_file.h"

#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The number at *at, and *at behind the colon after it. */
static unsigned long number(const char **at)
{
    unsigned long n = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        n = n * 10 + (unsigned long)(**at - '0');
    if (**at == ':')
        ++*at;
    return n;
}

static bool is_open(long fd, struct stat *s)
{
    return fd >= 0 && dh_syscall3(SYS_fstat, fd, (long)s, 0) == 0;
}

/* The program may have put another file there. */
static bool left_open(const char *name, long *fd, struct stat *s)
{
    *fd = (long)number(&name);
    unsigned long device = number(&name), inode = number(&name);
    return is_open(*fd, s) && s->st_dev == device && s->st_ino == inode;
}

void *dh_tool_file_map(const char *name, size_t size, size_t *mapped)
{
    struct stat s;
    bool by_path = *name == '/';
    long fd = by_path ? dh_sys_open(name, O_RDWR | O_CLOEXEC, 0) : -1, at = -1;
    bool found = by_path ? is_open(fd, &s) : left_open(name, &fd, &s);
    size_t all = found ? (size_t)s.st_size : 0, n = size ? size : all;
    if (n && n <= all)
        at = dh_syscall6(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (by_path && fd >= 0)
        dh_sys_close((int)fd);
    *mapped = n;
    return (unsigned long)at > -4096UL ? NULL : (void *)at;
}
