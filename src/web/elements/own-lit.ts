/** Gives lit to the chunks, which have none of their own: see web-bundle.mjs. */
import * as lit from 'lit';

Object.assign(globalThis, { [Symbol.for('guestlist.lit')]: lit });
