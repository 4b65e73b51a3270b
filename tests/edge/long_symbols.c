// Symbol names of about 2,500 characters, pasted together: functions, variables, fields.
#include <stdio.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define MA(a) PASTE(a, _A_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MB(a) PASTE(a, _B_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MC(a) PASTE(a, _C_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MD(a) PASTE(a, _D_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define ME(a) PASTE(a, _E_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MF(a) PASTE(a, _F_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MG(a) PASTE(a, _G_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define MH(a) PASTE(a, _H_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)
#define ALL(a) MA(MB(MC(MD(ME(MF(MG(MH(a))))))))
#define W1 ALL(w)
#define W2 PASTE(W1, W1)
#define W4 PASTE(W2, W2)
#define LONG(a) PASTE(a, W4)

struct LONG(tag) {
    int LONG(field);
};
struct LONG(tag) LONG(variable) = {40};
static _Thread_local int LONG(thread) = 2;
int LONG(function)(int x)
{
    return x + LONG(variable).LONG(field)++ + LONG(thread)++;
}
#define STRING2(x) #x
#define STRING(x) STRING2(x)

int main(void)
{
    int a = LONG(function)(1), b = LONG(function)(1);
    printf("%d %d %zu\n", a, b, sizeof STRING(LONG(function)));
    return 0;
}
