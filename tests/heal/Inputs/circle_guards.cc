// The same in C++: all locks are taken by one call of the library.
#include <mutex>
#include <thread>
#include <cstdio>
#include <map>
#include <string>
struct Cache { std::mutex m; std::map<int, std::string> all; };
struct Log { std::mutex m; int lines = 0; };
static Cache cache;
static Log logger;
static void note(const char *) { std::lock_guard<std::mutex> g(logger.m); logger.lines++; }
static void put(int k) { std::lock_guard<std::mutex> g(cache.m); cache.all[k] = "x"; note("put"); }
static size_t flush() { std::unique_lock<std::mutex> g(logger.m); logger.lines = 0; std::lock_guard<std::mutex> h(cache.m); return cache.all.size(); }
int main()
{
    std::thread a([] { for (int i = 0; i < 3; i++) put(i); }), b([] { for (int i = 0; i < 3; i++) flush(); });
    a.join();
    b.join();
    std::printf("%zu\n", cache.all.size());
}
