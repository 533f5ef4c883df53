type Sideways = 'ArrowLeft' | 'ArrowRight';
const opposites: Readonly<Record<Sideways, Sideways>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' };

const isSideways = (key: string): key is Sideways => Object.hasOwn(opposites, key);

/** The key that leads the same way on a page from left to right. */
export const keyAlong = <Key extends string>(key: Key, isMirrored: boolean): Key | Sideways =>
  isMirrored && isSideways(key) ? opposites[key] : key;
