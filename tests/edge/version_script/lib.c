int counter = 1;
int internal(void)
{
    return counter++;
}
__asm__(".symver answer_old, answer@V1");
__asm__(".symver answer_new, answer@@V2");
int answer_old(void)
{
    return internal() + 100;
}
int answer_new(void)
{
    return internal() + 200;
}
int fresh(void)
{
    return answer_new() + 1000;
}
