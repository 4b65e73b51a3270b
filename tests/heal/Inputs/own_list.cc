// A linked list with a head that is pushed without a lock, popped with check-then-use; the node is freed by who pops.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
struct Node {
    Node *next;
    int value;
};
static Node *head;
static std::atomic<long> sum_in, sum_out;
static void push(int v)
{
    Node *n = new Node{nullptr, v};
    n->next = head;
    head = n;
    sum_in += v;
}
static bool pop()
{
    if (!head)
        return false;
    Node *n = head;
    head = n->next;
    sum_out += n->value;
    return true; // leaked on purpose: no reuse
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 50;
    std::vector<std::thread> all;
    for (int t = 0; t < 2; t++)
        all.emplace_back([n] {
            for (int i = 0; i < n; i++) {
                push(i);
                if (i % 2)
                    pop();
            }
        });
    for (auto &t : all)
        t.join();
    while (pop())
        ;
    bool ok = sum_in == sum_out;
    printf(ok ? "ok\n" : "FAILED: %ld in, %ld out\n", sum_in.load(), sum_out.load());
    return !ok;
}
