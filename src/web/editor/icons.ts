/** Icons of the editor. They are decoration; each button has an accessible name. */
import { icon } from '../base/icons.js';

export const measureIcon = icon('M11.5 3.5h-7L8 8l-3.5 4.5h7');
export const splitIcon = icon('M2.5 3.5h11M2.5 8h4M9.5 8h4M2.5 12.5h4M9.5 12.5h4');
export const filterIcon = icon('M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z');
export const undoIcon = icon('M5.5 3L2.5 6l3 3M2.5 6h7a3.5 3.5 0 0 1 0 7H6');
export const redoIcon = icon('M10.5 3l3 3-3 3M13.5 6h-7a3.5 3.5 0 0 0 0 7H10');
export const editIcon = icon('M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3z');
export const plusIcon = icon('M8 3v10M3 8h10');
