/** Inter, the one font that is shipped. A page that names it with its own files keeps those. */

import inter from './inter.css';
import fallback from './inter-fallback.css';

const isInter = ({ family }: FontFace): boolean => family.replaceAll(/["']/g, '') === 'Inter';

/** Lets the page's texts in Inter load its files, from the URL of each. They are asked for when a text needs them. */
export const addInter = (urlOf: (file: string) => string): void => {
  if ([...document.fonts].some(isInter)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${fallback}${inter.replaceAll(/(?<=url\()[^)]*/g, urlOf)}`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
};
