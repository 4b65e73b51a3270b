/* The list of threads that a program leaves for `deadheat run --threads`. */
#include "cmd/threads_print.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    static FILE *nowhere;
    char path[64];
    struct dh_err err = {0};
    int fd = memfd_create("threads", MFD_CLOEXEC);
    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    if (fd < 0 || !nowhere || write(fd, input, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!dh_threads_print(path, nowhere, &err) && !err.text)
        abort();
    dh_err_release(&err);
    close(fd);
    return 0;
}
