/* Functions on memory by its length: mem*, their wide and fortified forms. */
#include "runtime/interpose/rows.h"

#define WIDE(n) ((n) * sizeof(wchar_t))
/* From `at` up to and with `end`; without an end, n bytes. */
#define UP_TO(at, end, n) ((end) ? (size_t)((const char *)(end) - (const char *)(at)) + 1 : (n))

DH_ROW(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n), (R(from, n), W(to, n)), )
DH_ROW(void *, memmove, (void *to, const void *from, size_t n), (to, from, n), (R(from, n), W(to, n)), )
DH_ROW(void *, mempcpy, (void *to, const void *from, size_t n), (to, from, n), (R(from, n), W(to, n)), )
DH_ROW(void *, memset, (void *to, int byte, size_t n), (to, byte, n), W(to, n), )
DH_ROW(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n), (R(a, n), R(b, n)), )
DH_ROW(int, bcmp, (const void *a, const void *b, size_t n), (a, b, n), (R(a, n), R(b, n)), )
DH_ROW(void *, memchr, (const void *at, int byte, size_t n), (at, byte, n), , R(at, UP_TO(at, answer, n)))
DH_ROW(void *, memrchr, (const void *at, int byte, size_t n), (at, byte, n), R(at, n), )
DH_ROW(void *, rawmemchr, (const void *at, int byte), (at, byte), , R(at, UP_TO(at, answer, 0)))
DH_ROW(void *, memmem, (const void *in, size_t n, const void *what, size_t length), (in, n, what, length),
       R(what, length), R(in, answer ? (size_t)((char *)answer - (char *)in) + length : n))
DH_ROW(void *, memccpy, (void *restrict to, const void *restrict from, int byte, size_t n), (to, from, byte, n), , {
    size_t copied = answer ? (size_t)((char *)answer - (char *)to) : n;
    R(from, copied);
    W(to, copied);
})
DH_ROW_VOID(bcopy, (const void *from, void *to, size_t n), (from, to, n), (R(from, n), W(to, n)))
DH_ROW_VOID(bzero, (void *to, size_t n), (to, n), W(to, n))
DH_ROW_VOID(explicit_bzero, (void *to, size_t n), (to, n), W(to, n))
DH_ROW_VOID(swab, (const void *restrict from, void *restrict to, ssize_t n), (from, to, n), {
    size_t whole = n > 0 ? (size_t)n & ~(size_t)1 : 0;
    R(from, whole);
    W(to, whole);
})

DH_ROW(wchar_t *, wmemcpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t n), (to, from, n),
       (R(from, WIDE(n)), W(to, WIDE(n))), )
DH_ROW(wchar_t *, wmemmove, (wchar_t * to, const wchar_t *from, size_t n), (to, from, n),
       (R(from, WIDE(n)), W(to, WIDE(n))), )
DH_ROW(wchar_t *, wmempcpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t n), (to, from, n),
       (R(from, WIDE(n)), W(to, WIDE(n))), )
DH_ROW(wchar_t *, wmemset, (wchar_t * to, wchar_t c, size_t n), (to, c, n), W(to, WIDE(n)), )
DH_ROW(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), (R(a, WIDE(n)), R(b, WIDE(n))), )
DH_ROW(wchar_t *, wmemchr, (const wchar_t *at, wchar_t c, size_t n), (at, c, n), ,
       R(at, WIDE(answer ? (size_t)(answer - at) + 1 : n)))

/* The fortified ones end the program when there is no room: then nothing was accessed. */
#define FITS (n <= room)
DH_ROW(void *, __memcpy_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, n), W(to, n)) : (void)0, )
DH_ROW(void *, __memmove_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, n), W(to, n)) : (void)0, )
DH_ROW(void *, __mempcpy_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, n), W(to, n)) : (void)0, )
DH_ROW(void *, __memset_chk, (void *to, int byte, size_t n, size_t room), (to, byte, n, room),
       FITS ? W(to, n) : (void)0, )
DH_ROW_VOID(__explicit_bzero_chk, (void *to, size_t n, size_t room), (to, n, room), FITS ? W(to, n) : (void)0)
DH_ROW(wchar_t *, __wmemcpy_chk, (wchar_t * to, const wchar_t *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, WIDE(n)), W(to, WIDE(n))) : (void)0, )
DH_ROW(wchar_t *, __wmemmove_chk, (wchar_t * to, const wchar_t *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, WIDE(n)), W(to, WIDE(n))) : (void)0, )
DH_ROW(wchar_t *, __wmempcpy_chk, (wchar_t * to, const wchar_t *from, size_t n, size_t room), (to, from, n, room),
       FITS ? (R(from, WIDE(n)), W(to, WIDE(n))) : (void)0, )
DH_ROW(wchar_t *, __wmemset_chk, (wchar_t * to, wchar_t c, size_t n, size_t room), (to, c, n, room),
       FITS ? W(to, WIDE(n)) : (void)0, )
