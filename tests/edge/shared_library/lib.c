#include <stdio.h>
int lib_data[4] = {1, 2, 3, 4};
int lib_copied = 50; /* read by the program: a copy relocation */
__thread int lib_tls = 5;
static __thread int hidden_tls __attribute__((tls_model("local-dynamic"))) = 6;
static int constructed;
__attribute__((constructor)) static void build(void)
{
    constructed = 1;
}
__attribute__((destructor)) static void end(void)
{
    printf("library ends\n");
}
int overridden(void)
{
    return 1; /* the program's own wins */
}
int lib_sum(int (*f)(int))
{
    int s = 0;
    for (int i = 0; i < 4; i++)
        s += f(lib_data[i]++);
    return s + constructed * 1000 + overridden() * 10000;
}
int lib_thread(void)
{
    return lib_tls++ * 100 + hidden_tls++ + lib_copied;
}
