int nobody_defines_this(int);
extern int nor_this;
int kept[2] = {1, 2};
int dead(int x)
{
    return nobody_defines_this(x) + nor_this;
}
int (*dead_table[])(int) = {dead, nobody_defines_this};
int live(int x)
{
    kept[1] += x;
    return x * kept[1];
}
