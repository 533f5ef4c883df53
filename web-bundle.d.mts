import type { Plugin } from 'rolldown';

export type Chunk = { readonly fileName: string; readonly name: string; readonly imports: readonly string[] };
export declare const bundleElements: (dist: string) => Promise<readonly Chunk[]>;
export declare const sheetTexts: Plugin;
