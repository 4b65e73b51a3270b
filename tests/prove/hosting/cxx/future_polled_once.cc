/* The result is used although the time to wait for it may be over before it is there.
 * Expected: race on `result`. */
#include <chrono>
#include <future>

static int result;

int main()
{
    std::promise<void> made;
    std::future<void> ready = made.get_future();
    std::thread t([&made] {
        result = 7;
        made.set_value();
    });
#ifdef FIXED
    ready.wait();
#else
    ready.wait_for(std::chrono::milliseconds(1));
#endif
    int got = result;
    t.join();
    return got < 0;
}
