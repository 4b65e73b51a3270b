__attribute__((noinline)) int compute(int x)
{
    return x * 2;
}
int inside(int x)
{
    return compute(x) + 1;
}
