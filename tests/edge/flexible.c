// Flexible array members, zero-length arrays, static initialisation of one, growing with realloc.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    size_t n;
    int items[];
};
struct old_style {
    short n;
    char text[0];
};
static struct {
    int n;
    short v[];
} fixed = {3, {10, 20, 30}};

int main(void)
{
    struct buffer *b = malloc(sizeof *b);
    b->n = 0;
    for (int i = 0; i < 500; i++) {
        b = realloc(b, sizeof *b + (b->n + 1) * sizeof b->items[0]);
        b->items[b->n++] = i * i;
    }
    long sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += b->items[i];
    struct old_style *o = malloc(sizeof *o + 10);
    strcpy(o->text, "flexible");
    o->n = (short)strlen(o->text);
    fixed.v[1] += 5;
    printf("%ld %d %s %d %zu\n", sum, o->n, o->text, fixed.v[1] + fixed.v[2], sizeof *o);
    free(o);
    free(b);
    return 0;
}
