/** Some editors put it at the start of a text file. */
export const byteOrderMark = /^\ufeff/;
