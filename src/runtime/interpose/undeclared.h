/* Functions of libc that its headers do not declare, or only when they are used: fortified forms, and what the
 * compiler calls. Layer: runtime. */
#ifndef DH_RUNTIME_INTERPOSE_UNDECLARED_H
#define DH_RUNTIME_INTERPOSE_UNDECLARED_H

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <wchar.h>

struct _pthread_cleanup_buffer;

extern void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));

extern int __pthread_key_create(unsigned *key, void (*destructor)(void *));

/* Unlike pthread_cleanup_push this one survives a longjmp over it: libc then runs the routine, too. */
extern void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *), void *argument);
extern void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

extern void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
extern void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
extern void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
extern void *__memset_chk(void *to, int byte, size_t n, size_t room);
extern void __explicit_bzero_chk(void *to, size_t n, size_t room);
extern char *__strcpy_chk(char *to, const char *from, size_t room);
extern char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
extern char *__stpcpy_chk(char *to, const char *from, size_t room);
extern char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room);
extern char *__strcat_chk(char *to, const char *from, size_t room);
extern char *__strncat_chk(char *to, const char *from, size_t n, size_t room);
extern wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
extern wchar_t *__wmemmove_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
extern wchar_t *__wmempcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
extern wchar_t *__wmemset_chk(wchar_t *to, wchar_t c, size_t n, size_t room);
extern wchar_t *__wcscpy_chk(wchar_t *to, const wchar_t *from, size_t room);
extern wchar_t *__wcsncpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
extern wchar_t *__wcpcpy_chk(wchar_t *to, const wchar_t *from, size_t room);
extern wchar_t *__wcpncpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
extern wchar_t *__wcscat_chk(wchar_t *to, const wchar_t *from, size_t room);
extern wchar_t *__wcsncat_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);

extern int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
extern int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...);
extern int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
extern int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list arguments);

extern ssize_t __read_chk(int fd, void *buffer, size_t n, size_t room);
extern ssize_t __pread_chk(int fd, void *buffer, size_t n, off_t at, size_t room);
extern ssize_t __pread64_chk(int fd, void *buffer, size_t n, off64_t at, size_t room);
extern ssize_t __recv_chk(int fd, void *buffer, size_t n, size_t room, int flags);
extern ssize_t __recvfrom_chk(int fd, void *buffer, size_t n, size_t room, int flags, __SOCKADDR_ARG from,
                              socklen_t *length);
extern char *__fgets_chk(char *buffer, size_t room, int n, FILE *stream);
extern int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
extern int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);
extern ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t room);
extern char *__realpath_chk(const char *path, char *buffer, size_t room);

extern int __cxa_atexit(void (*function)(void *), void *argument, void *dso);
extern int __cxa_at_quick_exit(void (*function)(void *), void *dso);
extern int brk(void *end);
extern __sighandler_t __sysv_signal(int signal, __sighandler_t handler);

#endif
