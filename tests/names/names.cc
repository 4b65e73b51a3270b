// Accesses of every kind that C++ adds. See names.c for what SITE means.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bank {
struct Limits {
    int min, max;
};

class Owner {
public:
    virtual ~Owner() {}
    virtual int rank() { return level; } // SITE: bank::Owner.level|level|read
    int level = 0;
};

struct Tagged {
    int tag;
};

template <class T> class Account : public Owner, public Tagged {
public:
    T balance{};
    Limits limits{};
    T history[4]{};
    union {
        int code;
        float rate;
    };
    Account *next = nullptr;
    std::mutex lock;
    static int total;

    T get() const { return balance; } // SITE: bank::Account<int>.balance|balance|read
    void deposit(T amount)
    {
        balance += amount;            // SITE: bank::Account<int>.balance|balance|read; bank::Account<int>.balance|balance|write
        this->limits.max = 1;         // SITE: bank::Account<int>.limits.max|limits.max|write
        level = 2;                    // SITE: bank::Owner.level|level|write
        tag = 3;                      // SITE: bank::Tagged.tag|tag|write
        total++;                      // SITE: bank::Account<int>::total||read; bank::Account<int>::total||write
        history[int(amount)] = 4;     // SITE: bank::Account<int>.history[]|history[]|write
        rate = 5;                     // SITE: bank::Account<int>.rate|rate|write
    }
};
template <class T> int Account<T>::total = 0;
int vault;
Account<int> first;
enum class Colour : short { red, green };
Colour colour;
} // namespace bank

namespace {
int secret;
struct Inner {
    int depth;
};
} // namespace

struct Shape {
    int area;
    virtual void draw() {}
};
struct Square : virtual Shape {
    int side;
};
struct Circle : virtual Shape {
    int radius;
};
struct Both : Square, Circle {
    int own;
};

template <class A, class B> struct Pair {
    A left;
    B right;
};
template <int N> struct Ring {
    int slots[N];
    unsigned head : 4, tail : 4;
};

struct Counter {
    int value;
    Counter &operator+=(int n)
    {
        value += n;                   // SITE: Counter.value|value|read; Counter.value|value|write
        return *this;
    }
};

int plain(bank::Account<int> *a, bank::Account<double> &d, int &ref, int &&temp, const Inner *inner)
{
    a->balance = 1;                   // SITE: bank::Account<int>.balance|balance|write
    d.balance = 2;                    // SITE: bank::Account<double>.balance|balance|write
    a->level = 3;                     // SITE: bank::Owner.level|level|write
    a->tag = 4;                       // SITE: bank::Tagged.tag|tag|write
    d.limits.min = 5;                 // SITE: bank::Account<double>.limits.min|limits.min|write
    a->next->code = 6;                // SITE: bank::Account<int>.next|next|read; bank::Account<int>.code|code|write
    ref = 7;                          // SITE: ref||write
    temp = 8;                         // SITE: temp||write
    bank::vault = 9;                  // SITE: bank::vault||write
    bank::first.balance = 10;         // SITE: bank::first.balance|balance|write
    bank::first.tag = 11;             // SITE: bank::first.tag|tag|write
    bank::colour = bank::Colour::green; // SITE: bank::colour||write
    secret = 12;                      // SITE: secret||write
    return inner->depth;              // SITE: Inner.depth|depth|read
}

void virtual_bases(Both *b, Square &s)
{
    b->own = 1;                       // SITE: Both.own|own|write
    b->radius = 2;                    // SITE: Circle.radius|radius|write
    s.side = 3;                       // SITE: Square.side|side|write
    Both whole;
    whole.own = 4;                    // SITE: whole.own|own|write
    whole.side = 5;                   // SITE: whole.side|side|write
}

void vbase_member(Both *b)
{
    b->area = 1;                      // SITE: Shape.area|area|write
}

void templates(Pair<int, Pair<char, long>> *p, Ring<8> *r, int i)
{
    p->left = 1;                      // SITE: Pair<int, Pair<char, long> >.left|left|write
    p->right.right = 2;               // SITE: Pair<int, Pair<char, long> >.right.right|right.right|write
    r->slots[i] = 3;                  // SITE: Ring<8>.slots[]|slots[]|write
    r->tail = 4;                      // SITE: Ring<8>.tail|tail|read; Ring<8>.tail|tail|write
    i = r->head;                      // SITE: Ring<8>.head|head|read
}

int lambdas(int n)
{
    int by_reference = 0, by_value = n;
    auto work = [&by_reference, by_value](int k) {
        by_reference += k;            // SITE: by_reference||read; by_reference||read; by_reference||write
        return by_value;              // SITE: by_value||read
    };
    work(1);
    return by_reference;              // SITE: by_reference||read
}

struct Holder {
    std::vector<int> items;
    std::unique_ptr<Counter> counter;
    int Counter::*which;
    int &alias;
    void run()
    {
        auto inside = [this] {
            alias = 1;                // SITE: Holder.alias|alias|read; Holder.alias|alias|write
        };
        inside();
    }
};

int containers(Holder *h, std::vector<Counter> &list)
{
    h->items[3] = 1;                  // SITE: Holder.items[]|items[]|write
    h->counter->value = 2;            // SITE: Counter.value|value|write
    list[0].value = 3;                // SITE: Counter.value|value|write
    for (Counter &c : list)
        c.value = 4;                  // SITE: Counter.value|value|write
    auto &[a, b] = *new bank::Limits{1, 2};
    a = 5;                            // SITE: bank::Limits.min|min|write
    return b;                         // SITE: bank::Limits.max|max|read
}

int statics(int n)
{
    static int calls = n;
    static thread_local int mine;
    calls = 3;                        // SITE: calls||write
    mine = 4;                         // SITE: mine||write
    int *raw = new int[4];            // SITE: ||alloc
    raw[n] = 5;                       // SITE: raw[]||write
    n = *raw;                         // SITE: *raw||read
    delete[] raw;                     // SITE: *raw||free
    return n;
}

int caught()
{
    try {
        throw Counter{3};
    } catch (Counter &e) {
        return e.value;               // SITE: Counter.value|value|read
    }
}

std::condition_variable ready;
void notify()
{
    ready.notify_one();               // SITE: ready||signal
}

template class bank::Account<int>;
template class bank::Account<double>;

template <class F> void *address(F *f)
{
    return reinterpret_cast<void *>(f);
}
void *volatile kept[] = {address(plain),   address(virtual_bases), address(vbase_member), address(templates),
                         address(lambdas), address(containers),    address(statics),      address(caught),
                         address(notify)};

int main()
{
    bank::Account<int> local;
    local.balance = 1;                // SITE: local.balance|balance|write
    local.limits.max = 2;             // SITE: local.limits.max|limits.max|write
    local.level = 3;                  // SITE: local.level|level|write
    local.deposit(1);
    int number = 1;
    Inner inner{2};
    Counter counter{3};
    bank::Account<double> other;
    local.next = &local;
    counter += plain(&local, other, number, 2, &inner);
    Holder holder{{}, nullptr, &Counter::value, number};
    holder.run();
    return statics(1), kept[local.get() % 2] == nullptr;
}
