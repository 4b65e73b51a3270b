// BROKEN: Mailbox.messages
// Actors with mailboxes of their own, timed waits, visitors.
#include "all.h"
#include <chrono>
struct Message {
    std::string from;
    std::variant<int, std::string, std::vector<double>> body;
};
class Mailbox
{
    std::mutex m;
    std::condition_variable cv;
    std::deque<Message> messages;

  public:
    void post(Message msg)
    {
#ifndef BROKEN
        std::unique_lock<std::mutex> l(m);
#endif
        messages.push_back(std::move(msg));
#ifndef BROKEN
        l.unlock();
#endif
        cv.notify_one();
    }
    std::optional<Message> get(int ms)
    {
        std::unique_lock<std::mutex> l(m);
        if (!cv.wait_for(l, std::chrono::milliseconds(ms), [&] { return !messages.empty(); }))
            return {};
        Message r = std::move(messages.front());
        messages.pop_front();
        return r;
    }
};
class Actor
{
    std::string name;
    Mailbox box;
    std::thread th;

  public:
    explicit Actor(std::string n) : name(std::move(n))
    {
    }
    void start()
    {
        th = std::thread([this] { run(); });
    }
    void send(Message m)
    {
        box.post(std::move(m));
    }
    void join()
    {
        th.join();
    }
    void run()
    {
        while (auto m = box.get(50)) {
            std::visit(
                [&](auto &b) {
                    using T = std::decay_t<decltype(b)>;
                    if constexpr (std::is_same_v<T, int>)
                        printf("%s: %d\n", name.c_str(), b);
                    else
                        printf("%s: %zu\n", name.c_str(), b.size());
                },
                m->body);
        }
    }
};
int main()
{
    Actor a("a"), b("b");
    a.start();
    b.start();
    for (int i = 0; i < 5; i++) {
        a.send({"main", i});
        b.send({"main", std::string("hi")});
        b.send({"main", std::vector<double>{1, 2}});
    }
    a.join();
    b.join();
}
