int pong(int);
int trail[10], at;
int ping(int n)
{
    trail[at++] = n;
    return n ? pong(n - 1) + 1 : 0;
}
