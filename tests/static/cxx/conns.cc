// BROKEN: Conn.sent
// A table of connections with a lock of its own, each connection with another.
#include "all.h"
struct Conn {
    std::mutex m;
    std::string peer;
    long sent = 0;
    bool open = true;
    explicit Conn(std::string p) : peer(std::move(p)) {}
    void send(const std::string &text)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        if (open)
            sent += (long)text.size();
    }
    void close()
    {
        std::lock_guard<std::mutex> guard(m);
        open = false;
        sent += 1;
    }
};
class Table {
    std::mutex m;
    std::map<int, std::unique_ptr<Conn>> conns;
    int next = 0;

public:
    int open(const std::string &peer)
    {
        std::lock_guard<std::mutex> guard(m);
        int id = next++;
        conns[id] = std::make_unique<Conn>(peer);
        return id;
    }
    Conn *find(int id)
    {
        std::lock_guard<std::mutex> guard(m);
        auto it = conns.find(id);
        return it == conns.end() ? nullptr : it->second.get();
    }
    void broadcast(const std::string &text)
    {
        std::lock_guard<std::mutex> guard(m);
        for (auto &[id, conn] : conns)
            conn->send(text);
    }
};

int main()
{
    Table table;
    std::thread users[3];
    for (auto &u : users)
        u = std::thread([&table] {
            int id = table.open("somebody");
            table.broadcast("hello");
            if (Conn *c = table.find(id)) {
                c->send("again");
                c->close();
            }
        });
    for (auto &u : users)
        u.join();
}
