__attribute__((weak)) int level = 1;
__attribute__((weak)) int setting(void)
{
    return 1;
}
__attribute__((weak)) int only_weak(void)
{
    return 2;
}
__attribute__((weak)) int twice_weak(void)
{
    return 10;
}
int through_weak(void)
{
    return setting() * 10;
}
