__thread int from_library = 1000;
static __thread int inside[50] = {1};
int library(int i)
{
    inside[0] += i;
    return from_library++ + inside[0];
}
