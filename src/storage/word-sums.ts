/** See WordTable; columns of the table of an index. PostgreSQL keeps the sums in several rows, so that writers need not wait for one another. */
export const sumColumns = `sum(documents) AS documents, sum(title_length) AS title, sum(heading_length) AS heading,
  sum(body_length) AS body`;
