/** Matches the byte order mark that some editors put at the start of a text file. */
export const byteOrderMark = /^\ufeff/;
