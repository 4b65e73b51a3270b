// Replaced operator new and delete: plain, array, aligned, nothrow, placement, sized; every block comes back.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

static long blocks, made;
void *operator new(std::size_t n)
{
    blocks++;
    made++;
    if (n > (1ul << 40))
        throw std::bad_alloc();
    return std::malloc(n ? n : 1);
}
void *operator new(std::size_t n, std::align_val_t a)
{
    blocks++;
    made++;
    return std::aligned_alloc(static_cast<std::size_t>(a), (n + 127) & ~127ul);
}
void operator delete(void *p) noexcept
{
    blocks -= p != nullptr;
    std::free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    operator delete(p);
}
void operator delete(void *p, std::align_val_t) noexcept
{
    operator delete(p);
}
void operator delete(void *p, std::size_t, std::align_val_t) noexcept
{
    operator delete(p);
}
struct alignas(128) Wide {
    char c[100];
};

int main()
{
    long before = blocks;
    {
        auto a = std::make_unique<Wide>();
        std::vector<Wide> many(3);
        std::string s(100, 'x');
        int *p = new (std::nothrow) int(5);
        alignas(std::string) unsigned char room[sizeof(std::string)];
        auto *placed = new (room) std::string(50, 'y');
        std::printf("%d %zu %d\n", *p, placed->size(), (reinterpret_cast<unsigned long>(a.get()) & 127) != 0);
        placed->~basic_string();
        delete p;
        volatile std::size_t huge = 1ul << 45;
        try {
            char *q = new char[huge];
            std::printf("%p\n", static_cast<void *>(q));
        } catch (const std::bad_alloc &) {
            blocks--;
            std::printf("bad_alloc\n");
        }
    }
    std::printf("%ld %d\n", blocks - before, made >= 6);
}
