export type Mutant = {
  readonly name: string;
  /** Number of the leak in test/mutation/README.md. */
  readonly leak: number;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
  readonly tests: readonly string[];
  /** The databases on which the mutant's tests run; default: DuckDB. */
  readonly kinds?: string;
};
export const root: string;
export const readMutants: (only?: string) => readonly Mutant[];
export const applied: (
  mutant: Mutant,
  folder?: string,
) =>
  | { readonly fault: string; readonly texts?: undefined }
  | { readonly fault?: undefined; readonly texts: ReadonlyMap<string, string> };
