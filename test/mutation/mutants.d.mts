export type Mutant = {
  readonly name: string;
  /** Its number in the list of known leaks. */
  readonly leak: number;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
  readonly tests: readonly string[];
  /** The databases that it is judged on; left out: DuckDB. */
  readonly kinds?: string;
};
export const root: string;
export const readMutants: () => readonly Mutant[];
export const applied: (
  mutant: Mutant,
  folder?: string,
) =>
  | { readonly fault: string; readonly texts?: undefined }
  | { readonly fault?: undefined; readonly texts: ReadonlyMap<string, string> };
