// BROKEN: Channel.slot
// One slot between a producer and a consumer, for numbers or texts.
#include "all.h"
using Payload = std::variant<int, std::string>;
class Channel {
    std::mutex m;
    std::condition_variable cv;
    std::optional<Payload> slot;
    bool closed = false;

public:
    void put(Payload p)
    {
#ifdef BROKEN
        slot.emplace(std::move(p));
#else
        std::unique_lock<std::mutex> lock(m);
        cv.wait(lock, [this] { return !slot; });
        slot.emplace(std::move(p));
#endif
        cv.notify_all();
    }
    std::optional<Payload> take()
    {
        std::unique_lock<std::mutex> lock(m);
        cv.wait(lock, [this] { return slot || closed; });
        std::optional<Payload> out = std::move(slot);
        slot.reset();
        cv.notify_all();
        return out;
    }
    void close()
    {
        std::lock_guard<std::mutex> guard(m);
        closed = true;
        cv.notify_all();
    }
};

int main()
{
    Channel channel;
    std::thread producer([&] {
        for (int i = 0; i < 10; i++)
            if (i % 2)
                channel.put(i);
            else
                channel.put(std::string("text ") + std::to_string(i));
        channel.close();
    });
    size_t numbers = 0, letters = 0;
    while (auto p = channel.take()) {
        if (auto *n = std::get_if<int>(&*p))
            numbers += (size_t)*n;
        else
            letters += std::get<std::string>(*p).size();
    }
    producer.join();
    printf("%zu %zu\n", numbers, letters);
}
