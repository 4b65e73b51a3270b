// The program brings its own malloc family: everybody in the process must use it, from the first constructor on.
// FLAGS: -fno-builtin
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Alignas(16) char arena[4 << 20];
static size_t used;
static unsigned long calls;

void *malloc(size_t n)
{
    size_t at = __atomic_fetch_add(&used, ((n + 15) & ~(size_t)15) + 16, __ATOMIC_RELAXED);
    if (at + n + 16 > sizeof arena) {
        errno = ENOMEM;
        return NULL;
    }
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    memcpy(arena + at, &n, sizeof n);
    return arena + at + 16;
}
void free(void *p)
{
    (void)p;
}
void *calloc(size_t n, size_t size)
{
    void *p = malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}
void *realloc(void *old, size_t n)
{
    size_t before = 0;
    void *p = malloc(n);
    if (old && p) {
        memcpy(&before, (char *)old - 16, sizeof before);
        memcpy(p, old, before < n ? before : n);
    }
    return p;
}

int main(void)
{
    char *s = strdup("text from strdup");
    char *p = malloc(10), *q = realloc(p, 1000);
    int inside = s > arena && s < arena + sizeof arena && q > arena && q < arena + sizeof arena;
    printf("%s %d %d\n", s, inside, calls >= 3);
    free(q);
    free(s);
    return 0;
}
