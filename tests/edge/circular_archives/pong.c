int ping(int);
int pong_calls;
int pong(int n)
{
    pong_calls++;
    return n ? ping(n - 1) + 100 : 0;
}
