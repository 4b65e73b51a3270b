// RTTI: dynamic_cast down, across and to void, failed ones, typeid of polymorphic objects, bad_cast.
#include <cstdio>
#include <cstring>
#include <typeindex>
#include <typeinfo>

struct A {
    virtual ~A() = default;
    int a = 1;
};
struct B {
    virtual ~B() = default;
    int b = 2;
};
struct C : A, B {
    int c = 3;
};
struct D : private A, public B {
    int d = 4;
};
namespace
{
struct Hidden : C {
    int h = 5;
};
} // namespace
template <class T> static void probe(T *p)
{
    C *c = dynamic_cast<C *>(p);
    A *a = dynamic_cast<A *>(p);
    std::printf("%d %d %d %s\n", c ? c->c : -1, a ? a->a : -1, dynamic_cast<Hidden *>(p) != nullptr, typeid(*p).name());
}

int main()
{
    C c;
    D d;
    Hidden h;
    B *bs[] = {&c, &d, &h};
    for (B *b : bs)
        probe(b);
    std::printf("%d\n", dynamic_cast<void *>(bs[2]) == static_cast<void *>(&h));
    try {
        (void)dynamic_cast<C &>(*bs[1]);
    } catch (const std::bad_cast &e) {
        std::printf("%s\n", e.what());
    }
    try {
        B *null = nullptr;
        std::printf("%s\n", typeid(*null).name());
    } catch (const std::bad_typeid &e) {
        std::printf("%s\n", e.what());
    }
    std::printf("%d %d\n", typeid(*bs[0]) == typeid(C), std::type_index(typeid(h)) == std::type_index(typeid(*bs[2])));
}
