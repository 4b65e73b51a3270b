// UTF-8 identifiers, wide, UTF-16 and UTF-32 strings, multibyte conversion.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

struct größe {
    int länge, 幅;
};
static int ζ = 3;
static int übung(struct größe g)
{
    return g.länge * g.幅 + ζ;
}
static const char16_t u16[] = u"aß\U0001F600";
static const char32_t u32[] = U"aß\U0001F600";
static wchar_t wide[32] = L"weit: ä€";

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct größe g = {.länge = 6, .幅 = 7};
    ζ++;
    printf("%d %zu %zu %x %x\n", übung(g), sizeof u16 / 2, sizeof u32 / 4, u16[3], (unsigned)u32[2]);
    wcscat(wide, L"!");
    printf("%zu %ls\n", wcslen(wide), wide);
    char buf[40];
    printf("%zu %s\n", wcstombs(buf, wide, sizeof buf), buf);
    printf("%s\n", u8"π ≈ 3");
    return 0;
}
