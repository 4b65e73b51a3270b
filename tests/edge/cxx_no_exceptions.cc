// -fno-exceptions -fno-rtti with virtual functions and static locals without guards.
// FLAGS: -fno-exceptions -fno-rtti -fno-threadsafe-statics
#include <cstdio>
#include <cstring>

struct Animal {
    virtual const char *says() const = 0;
    virtual ~Animal() = default;
};
struct Cat final : Animal {
    const char *says() const override
    {
        return "meow";
    }
};
struct Dog final : Animal {
    char text[8];
    Dog()
    {
        std::strcpy(text, "woof");
    }
    const char *says() const override
    {
        return text;
    }
};
static Animal &pick(int i)
{
    static Cat cat;
    static Dog dog;
    return i & 1 ? static_cast<Animal &>(dog) : cat;
}

int main()
{
    for (int i = 0; i < 3; i++)
        std::printf("%s\n", pick(i).says());
}
