export const readTestNames: () => readonly { readonly file: string; readonly line: number; readonly name: string }[];
