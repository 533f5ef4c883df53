export type SourceFile = {
  readonly file: string;
  readonly folder: string;
  readonly lines: number;
  /** Paths relative to src. */
  readonly imports: readonly string[];
  readonly functions: readonly { readonly line: number; readonly length: number }[];
};
export const src: string;
export const readSources: () => readonly SourceFile[];
export const fileCircles: (sources: readonly SourceFile[]) => readonly (readonly string[])[];
export const roomCircles: (
  sources: readonly SourceFile[],
) => readonly { readonly room: string; readonly parts: readonly string[]; readonly imports: readonly string[] }[];
