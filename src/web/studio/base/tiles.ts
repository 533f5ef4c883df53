/** Tiles of a template while an author changes them. */

/** What the service takes. */
export const mostPictureBytes = 200_000;
export const mostPictureLength = 1_000_000;

/** An id for something new. Random, so that it names nothing that this or another author made, now or earlier. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
