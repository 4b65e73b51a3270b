// BROKEN: Session.bytes
// A table that is there once it is asked for; sessions are shared and have locks of their own.
#include "all.h"
struct Session {
    int id;
    std::string user;
    long bytes = 0;
    std::mutex m;
    Session(int i, std::string u) : id(i), user(std::move(u))
    {
    }
    void add(long n)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        bytes += n;
    }
    long get()
    {
        std::lock_guard<std::mutex> g(m);
        return bytes;
    }
};
class Sessions
{
    std::shared_mutex m;
    std::unordered_map<int, std::shared_ptr<Session>> all;
    int next = 0;

  public:
    std::shared_ptr<Session> open(const std::string &u)
    {
        std::unique_lock l(m);
        auto s = std::make_shared<Session>(next++, u);
        all.insert({s->id, s});
        return s;
    }
    std::shared_ptr<Session> find(int id)
    {
        std::shared_lock l(m);
        auto it = all.find(id);
        return it == all.end() ? nullptr : it->second;
    }
    void close(int id)
    {
        std::unique_lock l(m);
        all.erase(id);
    }
    long total()
    {
        long t = 0;
        std::vector<std::shared_ptr<Session>> copy;
        {
            std::shared_lock l(m);
            for (auto &kv : all)
                copy.push_back(kv.second);
        }
        for (auto &s : copy)
            t += s->get();
        return t;
    }
};
static Sessions &sessions()
{
    static Sessions s;
    return s;
}
static void client(int n)
{
    auto s = sessions().open("u" + std::to_string(n));
    for (int i = 0; i < 100; i++) {
        if (auto o = sessions().find(i % 4))
            o->add(i);
        s->add(1);
    }
    if (n % 2)
        sessions().close(s->id);
}
int main()
{
    std::vector<std::thread> ts;
    for (int i = 0; i < 4; i++)
        ts.emplace_back(client, i);
    printf("%ld\n", sessions().total());
    for (auto &t : ts)
        t.join();
}
