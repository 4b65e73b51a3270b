#include <stdio.h>
struct big {
    long v[5];
};
int shared = 1;
__thread int per_thread = 20;
extern int foreign_data[];
struct big foreign(struct big, int (*)(int));
int only_foreign_calls_this(int x)
{
    return x * 111;
}
static int callback(int x)
{
    return x + shared + foreign_data[2];
}

int main(void)
{
    struct big b = {{1, 2, 3, 4, 5}};
    b = foreign(b, callback);
    printf("%ld %ld %ld %d %d\n", b.v[0], b.v[3], b.v[4], shared, per_thread);
    return 0;
}
