/* A C++ plugin, opened by the first of two threads that need it: variables of threads with destructors, a static that
 * is initialised when it is needed, an exception that the program catches, and a promise across the border.
 * Expected: race on `opened` at `notes`. */
#ifdef LIBRARY_1
#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
struct own {
    std::string text;
    int uses = 0;
    ~own();
};
static std::atomic<int> destroyed;
own::~own()
{
    destroyed += uses;
}
static thread_local own mine;
static const std::string &name()
{
    static const std::string once = "plugin of a program";
    return once;
}
extern "C" void use(std::promise<int> *result)
{
    static std::once_flag flag;
    std::call_once(flag, [] { name(); });
    mine.text = name();
    mine.uses++;
    if (!result)
        throw std::runtime_error(mine.text);
    result->set_value((int)mine.text.size());
}
extern "C" int gone()
{
    return destroyed;
}
#else
#include <cassert>
#include <dlfcn.h>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int opened;

static void *open_plugin()
{
#ifdef FIXED
    std::lock_guard<std::mutex> hold(lock);
#endif
    opened++; /* notes */
    void *plugin = dlopen(PLUGIN_1, RTLD_NOW);
    assert(plugin);
    return plugin;
}

static void call(std::promise<int> *result)
{
    auto use = (void (*)(std::promise<int> *))dlsym(open_plugin(), "use");
    try {
        use(result);
        assert(result);
    } catch (const std::runtime_error &e) {
        assert(!result && e.what() == std::string("plugin of a program"));
    }
}

int main()
{
    std::promise<int> length;
    std::future<int> later = length.get_future();
    std::thread a(call, &length), b(call, nullptr);
    int n = later.get();
    a.join();
    b.join();
    assert(n == 19);
    auto gone = (int (*)())dlsym(open_plugin(), "gone");
    assert(gone() == 2);
    return 0;
}
#endif
