// A thread is given a closure that refers to a variable of main's; main goes on using it.
#include <cstdio>
#include <thread>
struct Box {
    int limit;
    explicit Box(int n) : limit(n) {}
    void put() { limit++; }
    int size() const { return limit; }
};

int main()
{
    Box box(4);
    std::thread t([&box] { box.put(); });
    printf("%d\n", box.size());
    t.join();
}
