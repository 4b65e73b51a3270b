// BROKEN: tally
// Global containers; a variable that each thread has for itself.
#include "all.h"
namespace
{
std::mutex tally_lock;
std::map<std::string, long> tally;
thread_local int depth = 0;
std::vector<std::string> words = {"a", "bb", "ccc"};
struct Scope {
    Scope()
    {
        ++depth;
    }
    ~Scope()
    {
        --depth;
    }
};
void add(const std::string &w, long n)
{
    Scope s;
#ifndef BROKEN
    std::lock_guard<std::mutex> g(tally_lock);
#endif
    auto [it, fresh] = tally.try_emplace(w, 0);
    it->second += n;
}
void worker(int id)
{
    for (const auto &w : words) {
        Scope s;
        if (depth > 0)
            add(w, id);
    }
}
} // namespace
int main()
{
    std::thread t1(worker, 1), t2(worker, 2);
    t1.join();
    t2.join();
    for (const auto &kv : tally)
        printf("%s %ld\n", kv.first.c_str(), kv.second);
}
