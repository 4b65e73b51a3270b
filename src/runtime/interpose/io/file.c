/* Reading and writing: buffers are accessed, and bytes that go through a channel carry an order. Data is there before
 * it can be read, so the order is acquired first and the buffer written then; on the way out the other way round. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* the headers are not to define getline themselves */
#endif
#include "runtime/interpose/io/channels.h"
#include "runtime/interpose/rows.h"

/* ---- buffers ---- */

/* The first `total` bytes of a scattered buffer. */
static void scattered(const struct iovec *parts, size_t n, size_t total, bool written, const uintptr_t *slot)
{
    for (size_t i = 0; i < n && total; i++) {
        size_t here = parts[i].iov_len < total ? parts[i].iov_len : total;
        if (written)
            W(parts[i].iov_base, here);
        else
            R(parts[i].iov_base, here);
        total -= here;
    }
}

static void filled(void *buffer, size_t n, ssize_t got, const uintptr_t *slot)
{
    /* A datagram that was cut answers its whole length. */
    W(buffer, (size_t)got < n ? (size_t)got : n);
}

static void gathered(const struct iovec *parts, size_t n, const uintptr_t *slot)
{
    scattered(parts, n, SIZE_MAX, false, slot);
}

/* ---- reading ---- */

#define READS(name, parameters, arguments, after)                                                                      \
    static ssize_t dh_interposed_##name parameters                                                                     \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        dh_interpose_ready();                                                                                          \
        ssize_t got = DH_WAIT(dh_real.name arguments);                                                                 \
        if (got < 0)                                                                                                   \
            return got;                                                                                                \
        dh_channel_in(fd);                                                                                             \
        after;                                                                                                         \
        return got;                                                                                                    \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define FILLED filled(buffer, n, got, slot)
#define SCATTERED scattered(parts, (size_t)n, (size_t)got, true, slot)

READS(read, (int fd, void *buffer, size_t n), (fd, buffer, n), FILLED)
READS(__read_chk, (int fd, void *buffer, size_t n, size_t room), (fd, buffer, n, room), FILLED)
READS(pread, (int fd, void *buffer, size_t n, off_t at), (fd, buffer, n, at), FILLED)
READS(pread64, (int fd, void *buffer, size_t n, off64_t at), (fd, buffer, n, at), FILLED)
READS(__pread_chk, (int fd, void *buffer, size_t n, off_t at, size_t room), (fd, buffer, n, at, room), FILLED)
READS(__pread64_chk, (int fd, void *buffer, size_t n, off64_t at, size_t room), (fd, buffer, n, at, room), FILLED)
READS(readv, (int fd, const struct iovec *parts, int n), (fd, parts, n), SCATTERED)
READS(preadv, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at), SCATTERED)
READS(preadv64, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at), SCATTERED)
READS(recv, (int fd, void *buffer, size_t n, int flags), (fd, buffer, n, flags), FILLED)
READS(__recv_chk, (int fd, void *buffer, size_t n, size_t room, int flags), (fd, buffer, n, room, flags), FILLED)
READS(recvfrom, (int fd, void *restrict buffer, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *restrict length),
      (fd, buffer, n, flags, from, length), FILLED)
READS(__recvfrom_chk, (int fd, void *buffer, size_t n, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *length),
      (fd, buffer, n, room, flags, from, length), FILLED)
READS(recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags),
      scattered(m->msg_iov, m->msg_iovlen, (size_t)got, true, slot))

static int dh_interposed_recvmmsg(int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *timeout)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    dh_interpose_ready();
    int got = DH_WAIT(dh_real.recvmmsg(fd, m, n, flags, timeout));
    if (got > 0)
        dh_channel_in(fd);
    for (int i = 0; i < got; i++)
        scattered(m[i].msg_hdr.msg_iov, m[i].msg_hdr.msg_iovlen, m[i].msg_len, true, slot);
    return got;
}
DH_INTERPOSE(recvmmsg);

static int dh_interposed_eventfd_read(int fd, eventfd_t *value)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    dh_interpose_ready();
    int result = DH_WAIT(dh_real.eventfd_read(fd, value));
    if (result == 0) {
        dh_channel_in(fd);
        W(value, sizeof *value);
    }
    return result;
}
DH_INTERPOSE(eventfd_read);

/* ---- writing ---- */

#define WRITES(result, name, parameters, arguments, before)                                                            \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        dh_interpose_ready();                                                                                          \
        before;                                                                                                        \
        dh_channel_out(fd);                                                                                            \
        return DH_WAIT(dh_real.name arguments);                                                                        \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define TAKEN R(buffer, n)
#define GATHERED gathered(parts, (size_t)n, slot)

WRITES(ssize_t, write, (int fd, const void *buffer, size_t n), (fd, buffer, n), TAKEN)
WRITES(ssize_t, pwrite, (int fd, const void *buffer, size_t n, off_t at), (fd, buffer, n, at), TAKEN)
WRITES(ssize_t, pwrite64, (int fd, const void *buffer, size_t n, off64_t at), (fd, buffer, n, at), TAKEN)
WRITES(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n), GATHERED)
WRITES(ssize_t, pwritev, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at), GATHERED)
WRITES(ssize_t, pwritev64, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at), GATHERED)
WRITES(ssize_t, send, (int fd, const void *buffer, size_t n, int flags), (fd, buffer, n, flags), TAKEN)
WRITES(ssize_t, sendto, (int fd, const void *buffer, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t length),
       (fd, buffer, n, flags, to, length), TAKEN)
WRITES(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags),
       gathered(m->msg_iov, m->msg_iovlen, slot))
WRITES(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags), {
    for (unsigned i = 0; i < n; i++)
        gathered(m[i].msg_hdr.msg_iov, m[i].msg_hdr.msg_iovlen, slot);
})
WRITES(int, eventfd_write, (int fd, eventfd_t value), (fd, value), (void)slot)

/* From descriptor to descriptor. */
#define PASSES(name, parameters, arguments)                                                                            \
    static ssize_t dh_interposed_##name parameters                                                                     \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        dh_channel_out(out);                                                                                           \
        ssize_t result = DH_WAIT(dh_real.name arguments);                                                              \
        if (result >= 0)                                                                                               \
            dh_channel_in(in);                                                                                         \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

PASSES(sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n))
PASSES(sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n))
PASSES(splice, (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),
       (in, in_at, out, out_at, n, flags))
PASSES(tee, (int in, int out, size_t n, unsigned flags), (in, out, n, flags))

/* ---- streams ---- */

/* The descriptor is used by libc when it likes: at the latest in the call that reads, at the earliest in the one that
 * writes. A stream may run code of the program's, so these are no waits. */
#define STREAM(result, name, parameters, arguments, before, after)                                                     \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        dh_interpose_ready();                                                                                          \
        before;                                                                                                        \
        result answer = dh_real.name arguments;                                                                        \
        after;                                                                                                         \
        (void)slot;                                                                                                    \
        return answer;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

static int fd_of(FILE *stream)
{
    return fileno_unlocked(stream);
}

#define OUT dh_channel_out(fd_of(stream))
#define IN dh_channel_in(fd_of(stream))
#define GOT_LINE (IN, answer ? W(buffer, dh_real.strlen(buffer) + 1) : (void)0)

STREAM(size_t, fread, (void *restrict buffer, size_t size, size_t n, FILE *restrict stream), (buffer, size, n, stream),
       , (IN, W(buffer, size *answer)))
STREAM(size_t, fread_unlocked, (void *restrict buffer, size_t size, size_t n, FILE *restrict stream),
       (buffer, size, n, stream), , (IN, W(buffer, size *answer)))
STREAM(char *, fgets, (char *restrict buffer, int n, FILE *restrict stream), (buffer, n, stream), , GOT_LINE)
STREAM(char *, __fgets_chk, (char *buffer, size_t room, int n, FILE *stream), (buffer, room, n, stream), , GOT_LINE)
STREAM(ssize_t, getline, (char **restrict line, size_t *restrict n, FILE *restrict stream), (line, n, stream), ,
       (IN, answer > 0 ? W(*line, (size_t)answer + 1) : (void)0))
STREAM(ssize_t, getdelim, (char **restrict line, size_t *restrict n, int end, FILE *restrict stream),
       (line, n, end, stream), , (IN, answer > 0 ? W(*line, (size_t)answer + 1) : (void)0))
STREAM(ssize_t, __getdelim, (char **restrict line, size_t *restrict n, int end, FILE *restrict stream),
       (line, n, end, stream), , (IN, answer > 0 ? W(*line, (size_t)answer + 1) : (void)0))
STREAM(size_t, fwrite, (const void *restrict buffer, size_t size, size_t n, FILE *restrict stream),
       (buffer, size, n, stream), (R(buffer, size *n), OUT), )
STREAM(size_t, fwrite_unlocked, (const void *restrict buffer, size_t size, size_t n, FILE *restrict stream),
       (buffer, size, n, stream), (R(buffer, size *n), OUT), )
STREAM(int, fputs, (const char *restrict text, FILE *restrict stream), (text, stream),
       (R(text, dh_real.strlen(text) + 1), OUT), )
STREAM(int, puts, (const char *text), (text), R(text, dh_real.strlen(text) + 1), )
/* NULL means all of them: where that would matter, which ones is not known. */
STREAM(int, fflush, (FILE * stream), (stream), stream ? OUT : (void)0, )
STREAM(int, fclose, (FILE * stream), (stream), dh_channel_closing(fd_of(stream)), )
