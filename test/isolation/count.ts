/**
 * How many random cases a run has: `ISOLATION_CASES` (`npm run isolation`) or, in a run of a mutant, which names its kinds
 * and looks for one mistake, `forMutants`; otherwise `usual`.
 */
export const countOfCases = (usual: number, forMutants: number): number =>
  Number(process.env.ISOLATION_CASES ?? (process.env.ISOLATION_KINDS === undefined ? usual : forMutants));
