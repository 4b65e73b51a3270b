/* Strings: a growable buffer and small predicates. Layer: base. Aborts when memory is gone; hosted code only. */
#ifndef DH_BASE_STR_H
#define DH_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Always NUL-terminated once something was added; zero-initialise to start. */
struct dh_str {
    char *at;
    size_t n, cap;
};

void dh_str_add(struct dh_str *s, const char *text);
void dh_str_add_n(struct dh_str *s, const char *text, size_t n);
void dh_str_addf(struct dh_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dh_str_vaddf(struct dh_str *s, const char *fmt, va_list ap);
void dh_str_clear(struct dh_str *s);
void dh_str_release(struct dh_str *s);
/* Hands the buffer to the caller, who frees it; never NULL. */
char *dh_str_take(struct dh_str *s);

/* printf into fresh memory, owned by the caller. */
char *dh_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *dh_strdup(const char *text);
/* All `n` bytes, and a 0. */
char *dh_strndup(const char *text, size_t n);

bool dh_starts_with(const char *text, const char *prefix);
bool dh_ends_with(const char *text, const char *suffix);
const char *dh_basename(const char *path);

#endif
