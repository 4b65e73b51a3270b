// thread_local objects with constructors and destructors, in functions, templates and classes; order at thread end.
// GCC: differs
// FLAGS: -pthread
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string trace;
struct Noisy {
    char c;
    explicit Noisy(char n) : c(n)
    {
        trace += c;
    }
    ~Noisy()
    {
        std::lock_guard g(lock);
        trace += static_cast<char>(c - 'a' + 'A');
    }
};
thread_local Noisy first('a');
static thread_local Noisy second('b');
template <int N> struct Holder {
    static thread_local std::string text;
};
template <int N> thread_local std::string Holder<N>::text(N, 'z');
static int local()
{
    static thread_local Noisy inside('i');
    static thread_local int calls = 0;
    return ++calls + (inside.c == 'i');
}

int main()
{
    for (int i = 0; i < 2; i++) {
        std::thread([&] {
            int n = local();
            n = local();
            Holder<4>::text += "!";
            trace += first.c == second.c ? "?" : std::to_string(n) + Holder<4>::text;
        }).join();
        trace += "|";
    }
    trace += local() == 2 ? "main" : "?";
    std::printf("%s %s\n", trace.c_str(), Holder<4>::text.c_str());
}
