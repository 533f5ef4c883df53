/** A modal dialog of an element: one look, and a head with the title and the button that closes it. */
import { css, html, type LitElement, nothing, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';
import { closeIcon } from './icons.js';

/** Elements change the sizes. */
export const dialogStyles = css`
  dialog {
    width: min(620px, calc(100vw - 24px));
    max-width: none;
    max-height: min(720px, 92vh);
    padding: 16px 18px;
    border: 1px solid var(--gl-border);
    border-radius: 14px;
    background: var(--gl-surface);
    color: var(--gl-text);
    box-shadow: 0 24px 64px rgb(0 0 0 / 28%);
  }
  dialog::backdrop {
    background: rgb(10 16 28 / 48%);
  }
  header {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  h2 {
    flex: 1;
    min-width: 0;
    margin: 0;
    font-size: 16px;
    overflow-wrap: anywhere;
  }
`;

type Dialog = {
  readonly text: Text;
  readonly title: string;
  readonly content: TemplateResult;
  readonly closed: () => void;
  /** What stands beside the button that closes it. */
  readonly actions?: TemplateResult | typeof nothing;
  /** Whether the focus can go to the title. Left out: no. */
  readonly isTitleFocusable?: boolean;
};

const close = ({ currentTarget }: Event): void => (currentTarget as Element).closest('dialog')?.close();

export const dialogView = ({ text, title, content, closed, actions, isTitleFocusable }: Dialog): TemplateResult =>
  html`<dialog part="dialog" aria-labelledby="title" @close=${closed}>
    <header>
      <h2 id="title" tabindex=${isTitleFocusable ? '-1' : nothing}>${title}</h2>
      ${actions ?? nothing}
      <button class="icon" part="icon-button" type="button" aria-label=${text('Close')} title=${text('Close')} @click=${close}>${closeIcon}</button>
    </header>
    ${content}
  </dialog>`;

/** Opens the element's dialog, once it is drawn. */
export const showDialog = async (host: LitElement): Promise<void> => {
  await host.updateComplete;
  host.renderRoot.querySelector('dialog')?.showModal();
};
