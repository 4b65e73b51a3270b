__thread int a = 1;
__thread char b[100] = "text";
__thread long zero;
