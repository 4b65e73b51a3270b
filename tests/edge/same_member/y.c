static int secret = 40;
int from_x(void);
int from_y(void)
{
    return secret++ + from_x();
}
