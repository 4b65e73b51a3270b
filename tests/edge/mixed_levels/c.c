enum small { A, B, C };
static enum small table[5] = {C, B, A, B, C};
int packed_enum(void)
{
    short s[2] = {1, 2};
    *(int *)(void *)s = 0x00050004;
    return (int)sizeof table * 1000 + s[0] * 100 + s[1] * 10 + table[0];
}
