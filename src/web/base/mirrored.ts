const opposites: Readonly<Record<string, string>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' };

/** The key that leads the same way on a page from left to right. */
export const keyAlong = (key: string, isMirrored: boolean): string => (isMirrored ? (opposites[key] ?? key) : key);
