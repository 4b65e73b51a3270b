extern long total;
void native_add(void);

void native_add(void)
{
    total++;
}
