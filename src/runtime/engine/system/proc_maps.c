#include "runtime/engine/system/proc_maps.h"

#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

enum { LINE = 4352 };

static const char *read_hex(const char *at, uintptr_t *out)
{
    *out = 0;
    for (;; at++) {
        char c = *at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 16;
        if (digit == 16)
            return at;
        *out = *out << 4 | digit;
    }
}

/* "low-high rwxp offset dev inode   name" */
static struct dh_proc_mapping parse(const char *line)
{
    struct dh_proc_mapping m = {0};
    const char *at = read_hex(line, &m.low);
    at = read_hex(at + 1, &m.high) + 1;
    m.readable = at[0] == 'r';
    m.writable = at[1] == 'w';
    m.executable = at[2] == 'x';
    m.shared = at[3] == 's';
    uintptr_t major, minor, offset;
    at = read_hex(at + 5, &offset);
    at = read_hex(at + 1, &major);
    at = read_hex(at + 1, &minor);
    m.offset = offset;
    m.device = makedev((unsigned)major, (unsigned)minor);
    for (at++; *at >= '0' && *at <= '9'; at++)
        m.inode = m.inode * 10 + (uint64_t)(*at - '0');
    while (*at == ' ')
        at++;
    m.path = at;
    m.kernel = dh_text_after(at, "[v");
    return m;
}

bool dh_proc_maps_each(bool (*each)(const struct dh_proc_mapping *, void *), void *argument)
{
    char buffer[4096], line[LINE];
    long fd = dh_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n;
    size_t length = 0;
    bool ok = fd >= 0;
    while (ok && (n = dh_syscall3(SYS_read, fd, (long)buffer, sizeof buffer)) > 0)
        for (long i = 0; ok && i < n; i++) {
            if (buffer[i] != '\n') {
                if (length + 1 < LINE)
                    line[length++] = buffer[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            struct dh_proc_mapping m = parse(line);
            ok = each(&m, argument);
        }
    if (fd >= 0)
        dh_sys_close((int)fd);
    return ok;
}
