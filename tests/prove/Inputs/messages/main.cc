#include "messages.h"
#include <cstdio>

int main()
{
    Channel channel([](const std::string &text) { std::printf("%s\n", text.c_str()); });
    channel.send("one");
    unsigned soon = channel.delivered();
    channel.send("two");
    return soon > 1;
}
