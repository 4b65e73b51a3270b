/* A library whose deposits are not atomic. */
#ifdef ANOTHER
static int unused;
int another(void);
int another(void)
{
    return unused++;
}
#endif
static int balance;

void deposit(int amount);
int balance_now(void);

void deposit(int amount)
{
    int before = balance;
    balance = before + amount;
}

int balance_now(void)
{
    return balance;
}
