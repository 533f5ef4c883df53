/** Icons as inline SVG, so that nothing is loaded. They are decoration; each button has an accessible name. */
import { html, type TemplateResult } from 'lit';

export const icon = (path: string): TemplateResult => html`<svg
  width="16"
  height="16"
  viewBox="0 0 16 16"
  fill="none"
  stroke="currentColor"
  stroke-width="1.5"
  stroke-linecap="round"
  stroke-linejoin="round"
  aria-hidden="true"
>
  <path d=${path}></path>
</svg>`;

export const tableIcon = icon('M2 3.5h12v9H2zM2 6.5h12M6 6.5v6');
export const chartIcon = icon('M2.5 13.5h11M4 11V7.5M8 11V3.5M12 11V6');
export const rowsIcon = icon('M2.5 4h11M2.5 8h11M2.5 12h7');
export const downloadIcon = icon('M8 2.5v7M5 7l3 3 3-3M2.5 13.5h11');
export const closeIcon = icon('M4 4l8 8M12 4l-8 8');
export const previousIcon = icon('M9.5 4.5L6 8l3.5 3.5');
export const nextIcon = icon('M6.5 4.5L10 8l-3.5 3.5');
export const upIcon = icon('M4.5 9.5L8 6l3.5 3.5');
export const downIcon = icon('M4.5 6.5L8 10l3.5-3.5');
export const checkIcon = icon('M3.5 8.5l3 3 6-7');
export const arrangeIcon = icon('M2.5 2.5h4.5v7H2.5zM9 2.5h4.5V6H9zM9 8h4.5v5.5H9zM2.5 11.5h4.5v2H2.5z');
export const bellIcon = icon('M3.5 11.5h9l-1.2-2V6.8a3.3 3.3 0 0 0-6.6 0v2.7zM6.7 13.5h2.6');
export const askIcon = icon('M2.5 3.5h11v7.5H8l-3 2.5V11H2.5zM5.5 7.25h5');
export const summaryIcon = icon('M3 3.5h10M3 6.5h10M3 9.5h6M11.5 10.5l.8 1.7 1.7.8-1.7.8-.8 1.7-.8-1.7-1.7-.8 1.7-.8z');
export const lockIcon = icon('M4 7.5h8v5.5H4zM5.5 7.5V5.5a2.5 2.5 0 0 1 5 0v2');
export const bookmarkIcon = icon('M4.5 2.5h7v11L8 11l-3.5 2.5z');
export const homeIcon = icon('M2.5 7.5L8 3l5.5 4.5M4 6.5v6.5h8V6.5');
export const peopleIcon = icon(
  'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5zM2 13c0-2 1.8-3.5 4-3.5s4 1.5 4 3.5M10.5 3.2a2.25 2.25 0 0 1 0 4.1M11.5 9.7c1.5.4 2.5 1.7 2.5 3.3',
);
export const growIcon = icon('M9.5 2.5h4v4M13.5 2.5L9 7M6.5 13.5h-4v-4M2.5 13.5L7 9');
export const shrinkIcon = icon('M13 7H9V3M9 7l4.5-4.5M3 9h4v4M7 9l-4.5 4.5');

export const measureIcon = icon('M11.5 3.5h-7L8 8l-3.5 4.5h7');
export const splitIcon = icon('M2.5 3.5h11M2.5 8h4M9.5 8h4M2.5 12.5h4M9.5 12.5h4');
export const filterIcon = icon('M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z');
export const undoIcon = icon('M5.5 3L2.5 6l3 3M2.5 6h7a3.5 3.5 0 0 1 0 7H6');
export const redoIcon = icon('M10.5 3l3 3-3 3M13.5 6h-7a3.5 3.5 0 0 0 0 7H10');
export const editIcon = icon('M10.5 3l2.5 2.5L6 12.5l-3 .5.5-3z');
export const plusIcon = icon('M8 3v10M3 8h10');
export const narrowerIcon = icon('M1.5 8H6M4 6l2 2-2 2M14.5 8H10M12 6l-2 2 2 2');
export const widerIcon = icon('M6 8H1.5M3.5 6l-2 2 2 2M10 8h4.5M12.5 6l2 2-2 2');
export const shorterIcon = icon('M8 1.5V6M6 4l2 2 2-2M8 14.5V10M6 12l2-2 2 2');
export const tallerIcon = icon('M8 6V1.5M6 3.5l2-2 2 2M8 10v4.5M6 12.5l2 2 2-2');
