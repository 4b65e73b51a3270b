static int count = 'a';
static int next(void)
{
    return count++;
}
int use_a(void)
{
    next();
    return next();
}
__attribute__((constructor)) static void prepare(void)
{
    count += 100;
}
