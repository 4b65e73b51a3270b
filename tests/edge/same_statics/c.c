int state = 7; /* global here, static in the others */
int helper(int x)
{
    static int calls = 1000;
    return calls++ + state + x;
}
int from_c(int x)
{
    return helper(x);
}
