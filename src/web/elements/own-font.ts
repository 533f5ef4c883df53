/** Entry point of a chunk: the font that a theme names and the service ships. Its files are in a folder beside that of the chunks. */
import { addInter } from '../fonts/inter.js';

// Written out, for bundlers of host pages: they look for such URLs and take the files along.
const urls: Readonly<Record<string, URL>> = {
  'inter-latin-5.3.0.woff2': new URL('../fonts/inter-latin-5.3.0.woff2', import.meta.url),
  'inter-latin-ext-5.3.0.woff2': new URL('../fonts/inter-latin-ext-5.3.0.woff2', import.meta.url),
};

export const addOwnFont = (): void => addInter((file) => urls[file]?.href ?? file);
