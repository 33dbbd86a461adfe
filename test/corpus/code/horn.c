#include <stdio.h>

/* Blasts that the harbour office wishes for. */
static const int blasts = 3;

static void sound(int seconds)
{
    printf("hoot %d\n", seconds);
}

int main(void)
{
    for (int count = 0; count < blasts; count++) {
        sound(90);
    }
    return 0;
}
