// Exceptions leave the section; a cache with check-then-act on a size.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>
struct Cache {
    long size = 0, evictions = 0, inserted = 0, refused = 0;
};
static Cache cache;
static const long limit = 50;
static void insert(long n)
{
    long before = cache.size;
    if (before + n > limit) {
        cache.refused = cache.refused + 1;
        throw std::runtime_error("full");
    }
    cache.size = before + n;
    cache.inserted = cache.inserted + n;
}
static void evict()
{
    long before = cache.size;
    if (before > 10) {
        cache.size = before - 10;
        cache.evictions = cache.evictions + 10;
    }
}
static void work(int t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        try {
            insert(1 + (i + t) % 3);
        } catch (const std::runtime_error &) {
            evict();
        }
    }
}
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    std::vector<std::thread> all;
    for (int t = 0; t < 2; t++)
        all.emplace_back(work, t, rounds);
    for (auto &t : all)
        t.join();
    bool ok = cache.inserted - cache.evictions == cache.size && cache.size <= limit;
    printf(ok ? "ok\n" : "FAILED: %ld - %ld != %ld\n", cache.inserted, cache.evictions, cache.size);
    return !ok;
}
