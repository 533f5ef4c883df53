/** Loads what draws pictures of cards. */
export const loadPictures = () => import('./chunks/pictures.js');
