/** Pages that run from right to left. */
import { directionOf } from '../../model/texts/language.js';

/** A value that keeps its own direction, so that a sign, a unit or a name stays where it belongs. */
export const apart = (value: string, { language }: { readonly language: string }): string =>
  directionOf(language) === 'rtl' ? `\u2068${value}\u2069` : value;

type Sideways = 'ArrowLeft' | 'ArrowRight';
const opposites: Readonly<Record<Sideways, Sideways>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' };

const isSideways = (key: string): key is Sideways => Object.hasOwn(opposites, key);

/** The key that leads the same way on a page from left to right. */
export const keyAlong = <Key extends string>(key: Key, isMirrored: boolean): Key | Sideways =>
  isMirrored && isSideways(key) ? opposites[key] : key;
