/* Functions on text by its end: str*, their wide and fortified forms, and numbers read from text. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* the headers are not to define atoi themselves */
#endif
#include "runtime/interpose/memory/alloc.h"
#include "runtime/interpose/rows.h"

#include <ctype.h>

/* With the terminator. */
static size_t whole(const char *text)
{
    return dh_real.strlen(text) + 1;
}

/* The same, but no more than n. */
static size_t within(const char *text, size_t n)
{
    size_t length = dh_real.strnlen(text, n);
    return length < n ? length + 1 : n;
}

/* How much of both a comparison looks at: up to the first difference, or the end. */
static size_t compared(const char *a, const char *b, size_t n, bool cases)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (!x || (cases ? x != y : tolower(x) != tolower(y)))
            return i + 1;
    }
    return n;
}

#define SAME(n)                                                                                                        \
    {                                                                                                                  \
        size_t seen = n;                                                                                               \
        R(a, seen);                                                                                                    \
        R(b, seen);                                                                                                    \
    }
/* Up to and with what was found, else all. */
#define FOUND(at) R(at, answer ? (size_t)(answer - (at)) + 1 : whole(at))

DH_ROW(size_t, strlen, (const char *s), (s), , R(s, answer + 1))
DH_ROW(size_t, strnlen, (const char *s, size_t n), (s, n), , R(s, answer < n ? answer + 1 : n))
DH_ROW(int, strcmp, (const char *a, const char *b), (a, b), SAME(compared(a, b, SIZE_MAX, true)), )
DH_ROW(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n), SAME(compared(a, b, n, true)), )
DH_ROW(int, strcasecmp, (const char *a, const char *b), (a, b), SAME(compared(a, b, SIZE_MAX, false)), )
DH_ROW(int, strncasecmp, (const char *a, const char *b, size_t n), (a, b, n), SAME(compared(a, b, n, false)), )
DH_ROW(int, strcoll, (const char *a, const char *b), (a, b), (R(a, whole(a)), R(b, whole(b))), )
DH_ROW(char *, strchr, (const char *s, int c), (s, c), , FOUND(s))
DH_ROW(char *, index, (const char *s, int c), (s, c), , FOUND(s))
DH_ROW(char *, strchrnul, (const char *s, int c), (s, c), , FOUND(s))
DH_ROW(char *, strrchr, (const char *s, int c), (s, c), R(s, whole(s)), )
DH_ROW(char *, rindex, (const char *s, int c), (s, c), R(s, whole(s)), )
DH_ROW(char *, strpbrk, (const char *s, const char *set), (s, set), R(set, whole(set)), FOUND(s))
DH_ROW(size_t, strspn, (const char *s, const char *set), (s, set), R(set, whole(set)), R(s, answer + 1))
DH_ROW(size_t, strcspn, (const char *s, const char *set), (s, set), R(set, whole(set)), R(s, answer + 1))
DH_ROW(char *, strstr, (const char *s, const char *what), (s, what), R(what, whole(what)),
       R(s, answer ? (size_t)(answer - s) + dh_real.strlen(what) : whole(s)))
DH_ROW(char *, strcasestr, (const char *s, const char *what), (s, what), R(what, whole(what)),
       R(s, answer ? (size_t)(answer - s) + dh_real.strlen(what) : whole(s)))

#define COPY(to, from, n)                                                                                              \
    {                                                                                                                  \
        size_t bytes = n;                                                                                              \
        R(from, bytes);                                                                                                \
        W(to, bytes);                                                                                                  \
    }
/* Copies at most n, and fills the rest with zeroes. */
#define COPY_FILLED (R(from, within(from, n)), W(to, n))
#define APPEND(n)                                                                                                      \
    {                                                                                                                  \
        size_t at = dh_real.strlen(to);                                                                                \
        R(to, at + 1);                                                                                                 \
        COPY(to + at, from, n)                                                                                         \
    }
/* Reads at most n and always adds a terminator. */
#define APPEND_AT_MOST                                                                                                 \
    {                                                                                                                  \
        size_t at = dh_real.strlen(to);                                                                                \
        R(to, at + 1);                                                                                                 \
        R(from, within(from, n));                                                                                      \
        W(to + at, dh_real.strnlen(from, n) + 1);                                                                      \
    }
#define TO_FROM char *restrict to, const char *restrict from

DH_ROW(char *, strcpy, (TO_FROM), (to, from), COPY(to, from, whole(from)), )
DH_ROW(char *, stpcpy, (TO_FROM), (to, from), COPY(to, from, whole(from)), )
DH_ROW(char *, strncpy, (TO_FROM, size_t n), (to, from, n), COPY_FILLED, )
DH_ROW(char *, stpncpy, (TO_FROM, size_t n), (to, from, n), COPY_FILLED, )
DH_ROW(char *, strcat, (TO_FROM), (to, from), APPEND(whole(from)), )
DH_ROW(char *, strncat, (TO_FROM, size_t n), (to, from, n), APPEND_AT_MOST, )
DH_ROW(char *, __strcpy_chk, (TO_FROM, size_t room), (to, from, room), COPY(to, from, whole(from)), )
DH_ROW(char *, __stpcpy_chk, (TO_FROM, size_t room), (to, from, room), COPY(to, from, whole(from)), )
DH_ROW(char *, __strncpy_chk, (TO_FROM, size_t n, size_t room), (to, from, n, room), COPY_FILLED, )
DH_ROW(char *, __stpncpy_chk, (TO_FROM, size_t n, size_t room), (to, from, n, room), COPY_FILLED, )
DH_ROW(char *, __strcat_chk, (TO_FROM, size_t room), (to, from, room), APPEND(whole(from)), )
DH_ROW(char *, __strncat_chk, (TO_FROM, size_t n, size_t room), (to, from, n, room), APPEND_AT_MOST, )
DH_ROW(size_t, strxfrm, (TO_FROM, size_t n), (to, from, n), R(from, whole(from)), W(to, answer < n ? answer + 1 : 0))
DH_ROW(char *, strdup, (const char *s), (s), (R(s, whole(s)), dh_alloc_announce(slot)),
       answer ? W(answer, whole(answer)) : (void)0)
DH_ROW(char *, strndup, (const char *s, size_t n), (s, n), (R(s, within(s, n)), dh_alloc_announce(slot)),
       answer ? W(answer, whole(answer)) : (void)0)
/* Of what they cut, the token is known to have been read. */
DH_ROW(char *, strtok, (char *restrict s, const char *restrict set), (s, set), R(set, whole(set)),
       answer ? R(answer, whole(answer)) : (void)0)
DH_ROW(char *, strtok_r, (char *restrict s, const char *restrict set, char **restrict rest), (s, set, rest),
       R(set, whole(set)), answer ? R(answer, whole(answer)) : (void)0)
DH_ROW(char *, strsep, (char **restrict s, const char *restrict set), (s, set), R(set, whole(set)),
       answer ? R(answer, whole(answer)) : (void)0)

/* ---- wide ---- */

#define WIDE(n) ((n) * sizeof(wchar_t))
#define WIDE_FOUND(at) R(at, WIDE(answer ? (size_t)(answer - (at)) + 1 : wide_whole(at)))

static size_t wide_whole(const wchar_t *text)
{
    return dh_real.wcslen(text) + 1;
}

static size_t wide_within(const wchar_t *text, size_t n)
{
    size_t length = dh_real.wcsnlen(text, n);
    return length < n ? length + 1 : n;
}

static size_t wide_compared(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!a[i] || a[i] != b[i])
            return i + 1;
    return n;
}

#define WIDE_TO_FROM wchar_t *restrict to, const wchar_t *restrict from
#define WIDE_COPY COPY(to, from, WIDE(wide_whole(from)))
#define WIDE_COPY_FILLED (R(from, WIDE(wide_within(from, n))), W(to, WIDE(n)))
#define WIDE_APPEND                                                                                                    \
    {                                                                                                                  \
        size_t at = dh_real.wcslen(to);                                                                                \
        R(to, WIDE(at + 1));                                                                                           \
        COPY(to + at, from, WIDE(wide_whole(from)))                                                                    \
    }
#define WIDE_APPEND_AT_MOST                                                                                            \
    {                                                                                                                  \
        size_t at = dh_real.wcslen(to);                                                                                \
        R(to, WIDE(at + 1));                                                                                           \
        R(from, WIDE(wide_within(from, n)));                                                                           \
        W(to + at, WIDE(dh_real.wcsnlen(from, n) + 1));                                                                \
    }

DH_ROW(size_t, wcslen, (const wchar_t *s), (s), , R(s, WIDE(answer + 1)))
DH_ROW(size_t, wcsnlen, (const wchar_t *s, size_t n), (s, n), , R(s, WIDE(answer < n ? answer + 1 : n)))
DH_ROW(int, wcscmp, (const wchar_t *a, const wchar_t *b), (a, b), SAME(WIDE(wide_compared(a, b, SIZE_MAX))), )
DH_ROW(int, wcsncmp, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), SAME(WIDE(wide_compared(a, b, n))), )
DH_ROW(wchar_t *, wcschr, (const wchar_t *s, wchar_t c), (s, c), , WIDE_FOUND(s))
DH_ROW(wchar_t *, wcsrchr, (const wchar_t *s, wchar_t c), (s, c), R(s, WIDE(wide_whole(s))), )
DH_ROW(wchar_t *, wcsstr, (const wchar_t *s, const wchar_t *what), (s, what), R(what, WIDE(wide_whole(what))),
       R(s, WIDE(answer ? (size_t)(answer - s) + dh_real.wcslen(what) : wide_whole(s))))
DH_ROW(wchar_t *, wcscpy, (WIDE_TO_FROM), (to, from), WIDE_COPY, )
DH_ROW(wchar_t *, wcpcpy, (WIDE_TO_FROM), (to, from), WIDE_COPY, )
DH_ROW(wchar_t *, wcsncpy, (WIDE_TO_FROM, size_t n), (to, from, n), WIDE_COPY_FILLED, )
DH_ROW(wchar_t *, wcpncpy, (WIDE_TO_FROM, size_t n), (to, from, n), WIDE_COPY_FILLED, )
DH_ROW(wchar_t *, wcscat, (WIDE_TO_FROM), (to, from), WIDE_APPEND, )
DH_ROW(wchar_t *, wcsncat, (WIDE_TO_FROM, size_t n), (to, from, n), WIDE_APPEND_AT_MOST, )
DH_ROW(wchar_t *, __wcscpy_chk, (WIDE_TO_FROM, size_t room), (to, from, room), WIDE_COPY, )
DH_ROW(wchar_t *, __wcpcpy_chk, (WIDE_TO_FROM, size_t room), (to, from, room), WIDE_COPY, )
DH_ROW(wchar_t *, __wcsncpy_chk, (WIDE_TO_FROM, size_t n, size_t room), (to, from, n, room), WIDE_COPY_FILLED, )
DH_ROW(wchar_t *, __wcpncpy_chk, (WIDE_TO_FROM, size_t n, size_t room), (to, from, n, room), WIDE_COPY_FILLED, )
DH_ROW(wchar_t *, __wcscat_chk, (WIDE_TO_FROM, size_t room), (to, from, room), WIDE_APPEND, )
DH_ROW(wchar_t *, __wcsncat_chk, (WIDE_TO_FROM, size_t n, size_t room), (to, from, n, room), WIDE_APPEND_AT_MOST, )
DH_ROW(wchar_t *, wcsdup, (const wchar_t *s), (s), (R(s, WIDE(wide_whole(s))), dh_alloc_announce(slot)),
       answer ? W(answer, WIDE(wide_whole(answer))) : (void)0)
DH_ROW(int, wcscoll, (const wchar_t *a, const wchar_t *b), (a, b),
       (R(a, WIDE(wide_whole(a))), R(b, WIDE(wide_whole(b)))), )
DH_ROW(size_t, wcsxfrm, (WIDE_TO_FROM, size_t n), (to, from, n), R(from, WIDE(wide_whole(from))),
       W(to, WIDE(answer < n ? answer + 1 : 0)))

/* ---- numbers ---- */

/* Where the number ends is known only to the function that reads it; the character there was read. */
#define NUMBER(result, name)                                                                                           \
    static result dh_interposed_##name(const char *restrict s, char **restrict out, int base)                          \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        char *end;                                                                                                     \
        dh_interpose_ready();                                                                                          \
        if (!dh_access_wanted(slot))                                                                                   \
            return dh_real.name(s, out, base);                                                                         \
        result answer = dh_real.name(s, &end, base);                                                                   \
        R(s, (size_t)(end - s) + 1);                                                                                   \
        if (out) {                                                                                                     \
            W(out, sizeof *out);                                                                                       \
            *out = end;                                                                                                \
        }                                                                                                              \
        return answer;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

NUMBER(long, strtol)
NUMBER(unsigned long, strtoul)
NUMBER(long long, strtoll)
NUMBER(unsigned long long, strtoull)

static size_t digits(const char *s)
{
    char *end;
    dh_real.strtol(s, &end, 10);
    return (size_t)(end - s) + 1;
}

DH_ROW(int, atoi, (const char *s), (s), , R(s, digits(s)))
DH_ROW(long, atol, (const char *s), (s), , R(s, digits(s)))
DH_ROW(long long, atoll, (const char *s), (s), , R(s, digits(s)))
