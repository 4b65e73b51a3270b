// BROKEN: Player.x
// Players move when the clock ticks, under one lock.
#include "all.h"
struct Player {
    int id;
    int x = 0, y = 0;
    std::set<int> seen;
};
class Game
{
    std::vector<Player> players;
    std::mutex m;
    std::condition_variable tick;
    int round = 0;
    bool over = false;
    std::array<std::thread, 2> movers;
    std::thread clock;
    void move(size_t who)
    {
        std::unique_lock<std::mutex> l(m);
        int last = 0;
        while (!over) {
            tick.wait(l, [&] { return over || round != last; });
            last = round;
#ifdef BROKEN
            l.unlock();
#endif
            Player &p = players[who];
            p.x += 1;
            p.y += last;
            p.seen.insert(last);
            for (auto &o : players)
                if (o.id != p.id && o.x == p.x)
                    p.seen.insert(-o.id);
#ifdef BROKEN
            l.lock();
#endif
        }
    }

  public:
    Game()
    {
        for (int i = 0; i < 2; i++)
            players.push_back(Player{i});
        for (size_t i = 0; i < movers.size(); i++)
            movers[i] = std::thread([this, i] { move(i); });
        clock = std::thread([this] {
            for (int i = 0; i < 5; i++) {
                std::lock_guard<std::mutex> g(m);
                round++;
                tick.notify_all();
            }
            std::lock_guard<std::mutex> g(m);
            over = true;
            tick.notify_all();
        });
    }
    ~Game()
    {
        clock.join();
        for (auto &t : movers)
            t.join();
        for (const Player &p : players)
            printf("%d: %d %d %zu\n", p.id, p.x, p.y, p.seen.size());
    }
};
int main()
{
    Game g;
}
