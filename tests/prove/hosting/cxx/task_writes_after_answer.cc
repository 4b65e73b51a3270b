/* A worker goes on with the request when its answer was given.
 * Expected: race on `request`. */
#include <future>
#include <thread>

struct Request { int size; std::promise<int> answer; };
static Request request;

static void serve()
{
#ifdef FIXED
    request.size = 0;
    request.answer.set_value(1);
#else
    request.answer.set_value(1);
    request.size = 0;
#endif
}

int main()
{
    request.size = 3;
    std::shared_future<int> f = request.answer.get_future().share();
    std::thread t(serve), other([f] { f.wait(); });
    int got = f.get();
    request.size = got;
    other.join();
    t.join();
    return 0;
}
