/* Functions of the library that read or write memory for their caller: each against a plain access to a byte that it
 * is known to touch. ok: under one mutex; broken: under two. The function is called through a pointer, lest the
 * compiler puts its own code in its place. */
#include "pair.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

/* What the functions work on: text of LENGTH characters. */
enum { ROOM = 256, LENGTH = 20 };

union text {
    char guarded[ROOM];
    wchar_t wide[ROOM / sizeof(wchar_t)];
};

static union text text = {"abcdefghijklmnopqrst"};
static char other[ROOM] = "abcdefghijklmnopqrst", set[] = "t";
static const wchar_t wide_other[ROOM / 4] = L"abcdefghij", wide_set[] = L"j";
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

extern void *__memcpy_chk(void *, const void *, size_t, size_t);
extern void *__memmove_chk(void *, const void *, size_t, size_t);
extern void *__mempcpy_chk(void *, const void *, size_t, size_t);
extern void *__memset_chk(void *, int, size_t, size_t);
extern char *__strcpy_chk(char *, const char *, size_t);
extern char *__stpcpy_chk(char *, const char *, size_t);
extern char *__strncpy_chk(char *, const char *, size_t, size_t);
extern char *__stpncpy_chk(char *, const char *, size_t, size_t);
extern char *__strcat_chk(char *, const char *, size_t);
extern char *__strncat_chk(char *, const char *, size_t, size_t);
extern wchar_t *__wmemcpy_chk(wchar_t *, const wchar_t *, size_t, size_t);
extern wchar_t *__wcscpy_chk(wchar_t *, const wchar_t *, size_t);

#define g text.guarded
#define w text.wide
#define KEEP(value) __asm__ volatile("" ::"r"((uintptr_t)(value)) : "memory")
#define CALL(f) (*(__typeof__(f) *volatile[1]){f}[0])

static socklen_t address_length = sizeof(struct sockaddr_in);

static int one_of_a_pair(void)
{
    int fds[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    return fds[0];
}

/* F(name, does it write?, a byte that it touches, the call). The plain access is a write, or where the function writes
 * a read. */
#define FUNCTIONS(F)                                                                                                   \
    F(memcpy_to, 1, 10, CALL(memcpy)(g, other, LENGTH))                                                                \
    F(memcpy_from, 0, 10, CALL(memcpy)(other, g, LENGTH))                                                              \
    F(memmove_to, 1, 19, CALL(memmove)(g, other, LENGTH))                                                              \
    F(memmove_from, 0, 19, CALL(memmove)(other, g, LENGTH))                                                            \
    F(mempcpy, 1, 0, CALL(mempcpy)(g, other, LENGTH))                                                                  \
    F(memset, 1, 100, CALL(memset)(g, 1, ROOM))                                                                        \
    F(memcmp, 0, 19, CALL(memcmp)(g, other, LENGTH))                                                                   \
    F(bcmp, 0, 19, CALL(bcmp)(other, g, LENGTH))                                                                       \
    F(memchr, 0, 5, CALL(memchr)(g, 'f', LENGTH))                                                                      \
    F(memrchr, 0, 10, CALL(memrchr)(g, 'f', LENGTH))                                                                   \
    F(rawmemchr, 0, 5, CALL(rawmemchr)(g, 'f'))                                                                        \
    F(memmem_in, 0, 19, CALL(memmem)(g, LENGTH, "st", 2))                                                              \
    F(memmem_what, 0, 19, CALL(memmem)(other, LENGTH, g, LENGTH))                                                      \
    F(memccpy, 1, 5, CALL(memccpy)(g, other, 'f', LENGTH))                                                             \
    F(bcopy, 1, 5, (CALL(bcopy)(other, g, LENGTH), 0))                                                                 \
    F(bzero, 1, 5, (CALL(bzero)(g, LENGTH), 0))                                                                        \
    F(explicit_bzero, 1, 5, (CALL(explicit_bzero)(g, LENGTH), 0))                                                      \
    F(swab, 1, 5, (CALL(swab)(other, g, LENGTH), 0))                                                                   \
    F(strlen, 0, 20, CALL(strlen)(g))                                                                                  \
    F(strnlen, 0, 9, CALL(strnlen)(g, 10))                                                                             \
    F(strcmp, 0, 20, CALL(strcmp)(g, other))                                                                           \
    F(strncmp, 0, 9, CALL(strncmp)(other, g, 10))                                                                      \
    F(strcasecmp, 0, 20, CALL(strcasecmp)(g, other))                                                                   \
    F(strncasecmp, 0, 9, CALL(strncasecmp)(g, other, 10))                                                              \
    F(strcoll, 0, 19, CALL(strcoll)(g, other))                                                                         \
    F(strchr, 0, 5, CALL(strchr)(g, 'f'))                                                                              \
    F(strchr_none, 0, 20, CALL(strchr)(g, 'Z'))                                                                        \
    F(strrchr, 0, 20, CALL(strrchr)(g, 'f'))                                                                           \
    F(strchrnul, 0, 5, CALL(strchrnul)(g, 'f'))                                                                        \
    F(index, 0, 5, CALL(index)(g, 'f'))                                                                                \
    F(rindex, 0, 5, CALL(rindex)(g, 'f'))                                                                              \
    F(strstr, 0, 6, CALL(strstr)(g, "fg"))                                                                             \
    F(strstr_what, 0, 19, CALL(strstr)(other, g))                                                                      \
    F(strcasestr, 0, 6, CALL(strcasestr)(g, "FG"))                                                                     \
    F(strspn, 0, 1, CALL(strspn)(g, "a"))                                                                              \
    F(strcspn, 0, 19, CALL(strcspn)(g, set))                                                                           \
    F(strpbrk, 0, 19, CALL(strpbrk)(g, set))                                                                           \
    F(strpbrk_set, 0, 19, CALL(strpbrk)(set, g))                                                                       \
    F(strcpy_to, 1, 20, CALL(strcpy)(g, other))                                                                        \
    F(strcpy_from, 0, 20, CALL(strcpy)(other, g))                                                                      \
    F(stpcpy, 1, 20, CALL(stpcpy)(g, other))                                                                           \
    F(strncpy, 1, 99, CALL(strncpy)(g, other, 100))                                                                    \
    F(stpncpy, 1, 99, CALL(stpncpy)(g, other, 100))                                                                    \
    F(strcat_to, 1, 40, CALL(strcat)(g, other))                                                                        \
    F(strcat_from, 0, 20, CALL(strcat)(other, g))                                                                      \
    F(strncat, 1, 25, CALL(strncat)(g, other, 5))                                                                      \
    F(strdup, 0, 20, CALL(strdup)(g))                                                                                  \
    F(strndup, 0, 9, CALL(strndup)(g, 10))                                                                             \
    F(strtok_r, 0, 3, CALL(strtok_r)(g, "e", &(char *){0}))                                                            \
    F(strxfrm, 1, 20, CALL(strxfrm)(g, other, ROOM))                                                                   \
    F(strtol, 0, 0, CALL(strtol)(g, NULL, 10))                                                                         \
    F(strtoull, 0, 5, CALL(strtoull)(g, NULL, 16))                                                                     \
    F(snprintf, 1, 3, CALL(snprintf)(g, ROOM, "%.2f %s", 1.25, other))                                                 \
    F(sprintf, 1, 3, CALL(sprintf)(g, "%.2f", 1.25))                                                                   \
    F(wcslen, 0, 16, CALL(wcslen)(w))                                                                                  \
    F(wcscpy, 1, 41, CALL(wcscpy)(w, wide_other))                                                                      \
    F(wcsncpy, 1, 100, CALL(wcsncpy)(w, wide_other, 50))                                                               \
    F(wcscmp, 0, 2, CALL(wcscmp)(w, wide_other))                                                                       \
    F(wcschr, 0, 2, CALL(wcschr)(w, w[1]))                                                                             \
    F(wmemcpy, 1, 30, CALL(wmemcpy)(w, wide_other, 10))                                                                \
    F(wmemset, 1, 30, CALL(wmemset)(w, 1, 10))                                                                         \
    F(wmemcmp, 0, 30, CALL(wmemcmp)(w, wide_other, 10))                                                                \
    F(memcpy_chk, 1, 10, CALL(__memcpy_chk)(g, other, LENGTH, ROOM))                                                   \
    F(memmove_chk, 1, 10, CALL(__memmove_chk)(g, other, LENGTH, ROOM))                                                 \
    F(mempcpy_chk, 1, 10, CALL(__mempcpy_chk)(g, other, LENGTH, ROOM))                                                 \
    F(memset_chk, 1, 10, CALL(__memset_chk)(g, 1, LENGTH, ROOM))                                                       \
    F(strcpy_chk, 1, 10, CALL(__strcpy_chk)(g, other, ROOM))                                                           \
    F(stpcpy_chk, 1, 10, CALL(__stpcpy_chk)(g, other, ROOM))                                                           \
    F(strncpy_chk, 1, 10, CALL(__strncpy_chk)(g, other, LENGTH, ROOM))                                                 \
    F(stpncpy_chk, 1, 10, CALL(__stpncpy_chk)(g, other, LENGTH, ROOM))                                                 \
    F(strcat_chk, 1, 30, CALL(__strcat_chk)(g, other, ROOM))                                                           \
    F(strncat_chk, 1, 24, CALL(__strncat_chk)(g, other, 10, ROOM))                                                     \
    F(wmemcpy_chk, 1, 30, CALL(__wmemcpy_chk)(w, wide_other, 10, ROOM / 4))                                            \
    F(wcscpy_chk, 1, 30, CALL(__wcscpy_chk)(w, wide_other, ROOM / 4))                                                  \
    F(getsockname, 1, 15, CALL(getsockname)(socket(AF_INET, SOCK_DGRAM, 0), (void *)g, &address_length))               \
    F(getsockname_length, 1, 3, CALL(getsockname)(socket(AF_INET, SOCK_DGRAM, 0), (void *)other, (void *)g))           \
    F(getpeername, 1, 1, CALL(getpeername)(one_of_a_pair(), (void *)g, &address_length))                               \
    F(inet_ntop_to, 1, 7, CALL(inet_ntop)(AF_INET, other, g, ROOM))                                                    \
    F(inet_ntop_from, 0, 15, CALL(inet_ntop)(AF_INET6, g, other, ROOM))                                                \
    F(inet_pton_to, 1, 3, CALL(inet_pton)(AF_INET, "127.0.0.1", g))

/* One byte more than it touches must not count: the ok case of these has no mutex that helps. */
#define LIMITS(F)                                                                                                      \
    F(memcpy_limit, 20, CALL(memcpy)(g, other, LENGTH))                                                                \
    F(memset_limit, 20, CALL(memset)(g, 1, LENGTH))                                                                    \
    F(memchr_limit, 6, CALL(memchr)(g, 'f', LENGTH))                                                                   \
    F(strlen_limit, 21, CALL(strlen)(g))                                                                               \
    F(strnlen_limit, 10, CALL(strnlen)(g, 10))                                                                         \
    F(strcmp_limit, 1, CALL(strcmp)(g, "b"))                                                                           \
    F(strncmp_limit, 10, CALL(strncmp)(g, other, 10))                                                                  \
    F(strchr_limit, 6, CALL(strchr)(g, 'f'))                                                                           \
    F(strcpy_limit, 21, CALL(strcpy)(g, other))                                                                        \
    F(strncat_limit, 26, CALL(strncat)(g, other, 5))                                                                   \
    F(strcasecmp_limit, 2, CALL(strcasecmp)(g, "Ax"))                                                                  \
    F(getsockname_limit, 16, CALL(getsockname)(socket(AF_INET, SOCK_DGRAM, 0), (void *)g, &address_length))            \
    F(inet_ntop_limit, 8, CALL(inet_ntop)(AF_INET, "\1\2\3\4", g, ROOM))                                               \
    F(snprintf_limit, 5, CALL(snprintf)(g, ROOM, "%.2f", 1.25))                                                        \
    F(strtoull_limit, 7, CALL(strtoull)(g, NULL, 16))

static void touch(int at, int writes)
{
    if (writes)
        g[at] = g[at] + 1;
    else
        KEEP(g[at]);
}

#define DEFINE(name, writes, at, call)                                                                                 \
    static void call_##name(int o)                                                                                     \
    {                                                                                                                  \
        pthread_mutex_lock(&m[o]);                                                                                     \
        KEEP(call);                                                                                                    \
        pthread_mutex_unlock(&m[o]);                                                                                   \
    }                                                                                                                  \
    static void touch_##name(int o)                                                                                    \
    {                                                                                                                  \
        pthread_mutex_lock(&m[o]);                                                                                     \
        touch(at, !(writes));                                                                                          \
        pthread_mutex_unlock(&m[o]);                                                                                   \
    }
#define DEFINE_LIMIT(name, at, call)                                                                                   \
    static void call_##name(int o)                                                                                     \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        KEEP(call);                                                                                                    \
    }                                                                                                                  \
    static void touch_##name(int o)                                                                                    \
    {                                                                                                                  \
        g[(at) - (o ? 1 : 0)] = 'x';                                                                                   \
    }
FUNCTIONS(DEFINE)
LIMITS(DEFINE_LIMIT)

#define ROW(name, writes, at, call) {#name, NULL, call_##name, touch_##name, 0},
#define ROW_LIMIT(name, at, call) {#name, NULL, call_##name, touch_##name, 0},
static const struct pair pairs[] = {FUNCTIONS(ROW) LIMITS(ROW_LIMIT)};
PAIRS_MAIN(pairs)
