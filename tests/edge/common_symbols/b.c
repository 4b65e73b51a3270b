int counter;
int buffer[100];
char aligned;
void bump(void)
{
    counter++;
    buffer[99] = counter * 2;
}
int last(void)
{
    return buffer[99] + buffer[3];
}
