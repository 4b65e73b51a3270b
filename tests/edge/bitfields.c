// Bit-fields: signed, unsigned, bool, enum, wide, zero width, packed, straddling, in unions, volatile.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum level { LOW, MID, HIGH };
struct mixed {
    int a : 3;
    unsigned b : 5;
    bool c : 1;
    enum level d : 2;
    long long e : 40;
    unsigned : 0;
    unsigned char f : 7;
    unsigned long g : 63;
};
struct __attribute__((packed)) tight {
    unsigned a : 7;
    unsigned b : 17;
    unsigned long long c : 45;
    unsigned d : 3;
};
union view {
    struct {
        unsigned lo : 12, mid : 12, hi : 8;
    } f;
    unsigned whole;
};
static struct mixed m;
static struct tight t[3];
static volatile struct {
    unsigned x : 9, y : 9;
} v;

int main(void)
{
    m.a = -3;
    m.b = 37; /* becomes 5 */
    m.c = 4;
    m.d = HIGH;
    m.e = -123456789012LL;
    m.f = 100;
    m.g = ~0ul;
    m.b += 30;
    m.a--;
    m.g >>= 1;
    printf("%d %u %d %d %lld %d %lx %zu\n", m.a, m.b, m.c, m.d, (long long)m.e, m.f, (unsigned long)m.g, sizeof m);
    for (int i = 0; i < 3; i++) {
        t[i].a = (unsigned)i * 50;
        t[i].b = 0x1ffff - (unsigned)i;
        t[i].c = 1ull << (40 + i);
        t[i].d = (unsigned)i;
    }
    t[1].c |= 0x155;
    unsigned char raw[sizeof t];
    memcpy(raw, t, sizeof raw);
    unsigned h = 0;
    for (size_t i = 0; i < sizeof raw; i++)
        h = h * 31 + raw[i];
    printf("%u %zu\n", h, sizeof t[0]);
    union view w = {.whole = 0xdeadbeef};
    w.f.mid ^= 0xfff;
    printf("%x %x %x %x\n", w.whole, w.f.lo, w.f.mid, w.f.hi);
    v.x = 300;
    v.y = v.x + 250;
    printf("%d %d\n", v.x, v.y);
    return 0;
}
