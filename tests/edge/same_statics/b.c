struct state {
    double a[4];
};
static struct state state = {{1, 2, 3, 4}};
static int helper(int x)
{
    static int calls = 100;
    state.a[x]++;
    return calls++;
}
int from_b(int x)
{
    return helper(x) + (int)state.a[x];
}
