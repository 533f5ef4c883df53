export type KeptPromise = { readonly file: string; readonly line: number; readonly text: string };
export const findKeptPromises: (
  sources: readonly { readonly file: string; readonly text: string }[],
) => readonly KeptPromise[];
