#include <cstdio>
#include <stdexcept>
#include <string>
struct Noisy {
    std::string s = "static object";
    ~Noisy()
    {
        std::printf("~%s\n", s.c_str());
    }
};
static Noisy noisy;
extern "C" int plugin_run(int x)
{
    static thread_local std::string text = "tls";
    text += "+";
    try {
        if (x > 1)
            throw std::runtime_error(noisy.s + text);
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
    }
    return static_cast<int>(text.size());
}
