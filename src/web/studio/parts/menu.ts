/** A menu under a button. It closes when one of its items is used, by Escape, and when the focus goes elsewhere. */
import { html, type TemplateResult } from 'lit';

/** Closes the menu around the control that was used, and gives its button the focus. */
export const closeMenu = (event: Event): void => {
  const menu = (event.currentTarget as HTMLElement).closest('details.pop');
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
};

const byKey = (event: KeyboardEvent): void => {
  if (event.key === 'Escape') closeMenu(event);
};

const left = ({ currentTarget, relatedTarget }: FocusEvent): void => {
  const menu = currentTarget as HTMLDetailsElement;
  if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
};

/** `inside`: what the menu holds, a list or several parts. */
export const menu = (
  title: string | TemplateResult,
  inside: TemplateResult,
  className = 'button quiet',
): TemplateResult =>
  html`<details class="pop" @keydown=${byKey} @focusout=${left}><summary class=${className}>${title}</summary>
    ${inside}
  </details>`;

/** An item of a menu. It closes the menu, and then runs. */
export const menuItem = (text: string, run: () => void, canRun = true, title = ''): TemplateResult => {
  const used = (event: Event): void => {
    closeMenu(event);
    run();
  };
  return html`<li><button type="button" class="text add-item" title=${title} ?disabled=${!canRun} @click=${used}>${text}</button></li>`;
};
