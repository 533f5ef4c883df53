/** What an answer tells of the rows of tenants. Everything that a person can call declares it. */

/**
 * `nothing`: the answer repeats the request, or says that it was done. `definitions`: also what hosts and operators wrote,
 * and names and types in a database. `outcomes`: also how a query of rows ended: whether it failed or was empty, a count.
 * `rows`: also values of rows, or claims of end users.
 */
export type Reads = 'nothing' | 'definitions' | 'outcomes' | 'rows';

/** Whether only a person who sees data may have the answer. An outcome tells a row bit by bit to those who choose the query. */
export const needsData = (reads: Reads): boolean => reads === 'outcomes' || reads === 'rows';
