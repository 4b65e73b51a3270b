#include <cstdio>
#include <typeinfo>
inline int counter = 10;
inline int &local()
{
    static int n = counter;
    return n;
}
template <class T> struct Registry {
    static inline T *head = nullptr;
    static int count;
};
template <class T> int Registry<T>::count = 3;
struct Base {
    virtual int id() const
    {
        return 1;
    }
    virtual ~Base() = default;
};
template <int N> struct Made : Base {
    int id() const override
    {
        return N;
    }
};
struct Announce {
    Announce()
    {
        std::printf("constructed once\n");
    }
};
inline Announce announce;
Base *make();
int *address_of_counter();
int *address_of_local();
int bump();
