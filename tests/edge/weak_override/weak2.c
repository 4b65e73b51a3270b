__attribute__((weak)) int twice_weak(void)
{
    return 20;
}
