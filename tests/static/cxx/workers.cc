// BROKEN: Board.best
// Workers of several kinds, each with a thread, a score of its own and a board for all.
#include "all.h"
struct Board {
    std::mutex m;
    int best = 0;
    std::string by;
    void offer(int score, const std::string &name)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        if (score > best) {
            best = score;
            by = name;
        }
    }
};
class Worker {
    std::thread thread;

protected:
    Board &board;
    int score = 0;

public:
    explicit Worker(Board &b) : board(b) {}
    virtual ~Worker() {}
    virtual void run() = 0;
    void start() { thread = std::thread([this] { run(); }); }
    int finish()
    {
        thread.join();
        return score;
    }
};
class Climber : public Worker {
    int height;

public:
    Climber(Board &b, int h) : Worker(b), height(h) {}
    void run() override
    {
        for (int i = 0; i < height; i++)
            score += i;
        board.offer(score, "climber");
    }
};
class Swimmer : public Worker {
    std::vector<int> lanes;

public:
    explicit Swimmer(Board &b) : Worker(b), lanes{1, 2, 3} {}
    void run() override
    {
        for (int lane : lanes)
            score += lane;
        lanes.push_back(score);
        board.offer(score, "swimmer");
    }
};

int main()
{
    Board board;
    std::vector<std::unique_ptr<Worker>> workers;
    workers.push_back(std::make_unique<Climber>(board, 5));
    workers.push_back(std::make_unique<Swimmer>(board));
    workers.push_back(std::make_unique<Climber>(board, 9));
    for (auto &w : workers)
        w->start();
    int sum = 0;
    for (auto &w : workers)
        sum += w->finish();
    printf("%d, best %d by %s\n", sum, board.best, board.by.c_str());
}
