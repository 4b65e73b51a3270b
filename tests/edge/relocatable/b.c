static int count = 'b';
static int next(void)
{
    return count++;
}
int use_b(void)
{
    next();
    return next();
}
__attribute__((constructor)) static void prepare(void)
{
    count += 100;
}
