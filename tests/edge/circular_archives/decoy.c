int pong_calls = -1000;
int pong(int n)
{
    return -n;
}
