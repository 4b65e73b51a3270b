// Over-aligned globals, locals, arguments, structure members and heap blocks.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
    _Alignas(64) int v;
    char pad[3];
};
static struct line lines[3];
static _Alignas(4096) char page[100];
static _Thread_local _Alignas(128) int local_thread = 3;

static int off(const volatile void *p, uintptr_t a)
{
    return ((uintptr_t)p & (a - 1)) != 0;
}
static __attribute__((noinline)) int nested(int n)
{
    _Alignas(256) volatile char buf[300];
    int vla_size = n + 1;
    volatile char vla[vla_size];
    buf[0] = vla[n] = (char)n;
    return off(buf, 256) + (n ? nested(n - 1) : 0) + (buf[0] != vla[n]);
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        lines[i].v = i, lines[i].pad[2] = 'x';
    void *heap = aligned_alloc(1024, 4096), *posix = NULL;
    int r = posix_memalign(&posix, 512, 100);
    printf("%zu %zu %d%d%d%d%d%d\n", sizeof lines, _Alignof(struct line), off(lines, 64), off(page, 4096),
           off(&local_thread, 128), off(heap, 1024), r, off(posix, 512));
    printf("%d %d\n", nested(20), lines[1].v + lines[2].pad[2]);
    free(heap);
    free(posix);
    return 0;
}
