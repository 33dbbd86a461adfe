/** Some editors put a byte order mark at the start of a text file. */
export const byteOrderMark = /^\ufeff/;
