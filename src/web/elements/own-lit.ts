/** Gives to the chunks what they use of lit, of which they have no copy: see web-bundle.mjs, which reads this list. */
import { _$LH, css, html, LitElement, noChange, nothing, svg, unsafeCSS } from 'lit';

const shared = { _$LH, css, html, LitElement, noChange, nothing, svg, unsafeCSS };
Object.assign(globalThis, { [Symbol.for('guestlist.lit')]: shared });
