/** Values in sentences of right-to-left languages. */
import { directionOf } from '../../model/texts/language.js';

/** A value that keeps its own direction, so that a sign, a unit or a name stays where it belongs. */
export const apart = (value: string, { language }: { readonly language: string }): string =>
  directionOf(language) === 'rtl' ? `\u2068${value}\u2069` : value;
