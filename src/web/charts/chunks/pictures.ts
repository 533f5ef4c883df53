/** Loaded when a card is first downloaded as a picture. */
export { drawPicture } from '../pictures/draw.js';
