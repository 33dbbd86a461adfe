/** What some editors put before the first line of a text file. */
export const byteOrderMark = /^\ufeff/;
