// Asks and takes in two steps; main asks, too, and holds the lock when it comes to what is healed.
#include <mutex>
#include <thread>
#include <vector>
#include <cstdio>
class Stock {
    std::mutex lock_;
    int left_ = 3;
  public:
    int left() { std::lock_guard<std::mutex> g(lock_); return left_; }
    void take() { std::lock_guard<std::mutex> g(lock_); left_--; }
};
static Stock stock;
static int sold[2];
static void seller(int n)
{
    for (int i = 0; i < 2; i++)
        if (stock.left() > 0) {
            stock.take();
            sold[n]++;
        }
}
int main()
{
    std::thread a(seller, 0), b(seller, 1);
    a.join();
    b.join();
    std::printf("%d sold, %d left\n", sold[0] + sold[1], stock.left());
    return stock.left() < 0;
}
