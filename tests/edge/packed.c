// Packed structures: fields at every misalignment, pointers into them, arrays, nested, across a cache line.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) record {
    uint8_t tag;
    uint32_t word;
    uint64_t quad;
    double real;
    struct __attribute__((packed)) {
        uint16_t h;
        uint32_t deep;
    } in;
    void *self;
};
typedef uint64_t __attribute__((aligned(1))) loose64;
static struct record records[9] __attribute__((aligned(64)));
static char bytes[200] __attribute__((aligned(64)));

int main(void)
{
    for (unsigned i = 0; i < 9; i++) {
        struct record *r = &records[i];
        r->tag = (uint8_t)i;
        r->word = i * 0x01010101u;
        r->quad = (uint64_t)r->word << 20 | r->tag;
        r->real = i / 4.0;
        r->in.h = (uint16_t)(i * 1000);
        r->in.deep = r->in.h ^ 0xffffffffu;
        r->self = r;
    }
    double sum = 0;
    uint64_t x = 0;
    for (int i = 0; i < 9; i++) {
        sum += records[i].real;
        x = x * 33 + records[i].quad + records[i].in.deep + (records[i].self == &records[i]);
    }
    printf("%zu %g %016lx\n", sizeof(struct record), sum, x);
    for (int off = 56; off < 72; off++)
        *(loose64 *)(void *)(bytes + off) += 0x0102030405060708u * (unsigned)off;
    uint64_t h = 0;
    for (int i = 0; i < 200; i++)
        h = h * 131 + (unsigned char)bytes[i];
    printf("%016lx\n", h);
    return 0;
}
