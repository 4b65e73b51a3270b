// Addresses as constant expressions: into arrays, fields, labels of structs, casts, differences, self reference.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct node {
    struct node *next;
    int v[3];
    const char *name;
};
extern struct node ring[3];
struct node ring[3] = {{&ring[1], {1, 2, 3}, "a"}, {&ring[2], {4, 5, 6}, "b" + 0}, {&ring[0], {7, 8, 9}, "xc" + 1}};
static int *const third = &ring[2].v[2];
static int *into = &(&ring[1])->v[-1 + 2];
static const uintptr_t as_number = (uintptr_t)&ring[1].name;
static char *const past = (char *)&ring[3];
static int (*const print)(const char *, ...) = &printf;
static int matrix[3][4];
static int *row = matrix[1] + 2;
static void *self = &self;

int main(void)
{
    *third += 10;
    *into *= 2;
    *row = 6;
    print("%d %d %d\n", ring[2].v[2], ring[1].v[1], matrix[1][2]);
    print("%s %s %d\n", *(const char **)as_number, ring[0].next->next->name, past == (char *)(ring + 3));
    print("%d %zu\n", self == (void *)&self, offsetof(struct node, v[2]));
    return 0;
}
