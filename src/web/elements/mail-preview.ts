/**
 * A mail as its reader would see it, before anything is sent. The page of the mail is copied node by node, with the tags
 * and attributes that the mails of this product have: no script, no link and no address of another place gets in. A frame
 * would take over the policy of the page around it, which often refuses the styles that a mail must have at its elements.
 */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Format } from '../base/format.js';
import type { previewGuestSchedule } from '../base/guest-operations.js';
import type { GuestData } from '../base/operations.js';
import { baseStyles } from '../base/theme.js';

export type SentPreview = GuestData<typeof previewGuestSchedule>;

const tags = new Set(['a', 'body', 'div', 'h1', 'img', 'p', 'span', 'table', 'tbody', 'td', 'tr']);
const attributes = ['class', 'alt', 'dir', 'lang', 'role', 'width', 'height', 'align', 'cellpadding', 'cellspacing'];

const isPicture = (address: string | null): address is string => /^data:image\/(png|jpeg);/.test(address ?? '');

/** The copy of an element. Undefined: no mail of this product has such a one. */
const elementOf = (element: Element): HTMLElement | undefined => {
  const tag = element.localName;
  if (!tags.has(tag)) return undefined;
  const copy = document.createElement(tag === 'body' ? 'div' : tag);
  for (const name of attributes) {
    const value = element.getAttribute(name);
    if (value !== null) copy.setAttribute(name, value);
  }
  const [style, source] = [element.getAttribute('data-style'), element.getAttribute('src')];
  if (style !== null) copy.style.cssText = style;
  if (copy instanceof HTMLImageElement && isPicture(source)) copy.src = source;
  return copy;
};

const copyOf = (node: Node): Node | undefined => {
  if (node instanceof Text) return document.createTextNode(node.data);
  const copy = node instanceof Element ? elementOf(node) : undefined;
  copy?.append(...copiesOf(node));
  return copy;
};

const copiesOf = (node: Node): readonly Node[] =>
  [...node.childNodes].flatMap((child) => {
    const copy = copyOf(child);
    return copy === undefined ? [] : [copy];
  });

/** The nodes of a mail's page, with its language and direction, and its style sheet. */
const readMail = (page: string): { readonly body: HTMLElement; readonly sheet: CSSStyleSheet } => {
  // A page's policy refuses styles that are parsed, and takes those that a script sets. Names in a mail have no quotes.
  const [whole = '', styles = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
  const unstyled = page.replace(whole, '').replaceAll(' style="', ' data-style="');
  const read = new DOMParser().parseFromString(unstyled, 'text/html');
  const body = document.createElement('div');
  body.lang = read.documentElement.lang;
  body.dir = read.documentElement.dir;
  const shown = copyOf(read.body);
  if (shown !== undefined) body.append(shown);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  return { body, sheet };
};

/** The page of a mail, in styles of its own. */
export class MailPage extends LitElement {
  static override properties = { page: { attribute: false } };
  declare page: string;
  #shown: HTMLElement | undefined;

  static override styles = css`
    :host {
      display: block;
      overflow: auto;
      max-height: 420px;
    }
  `;

  override willUpdate(): void {
    const { body, sheet } = readMail(this.page);
    this.#shown = body;
    const root = this.renderRoot;
    if (root instanceof ShadowRoot) root.adoptedStyleSheets = [...root.adoptedStyleSheets.slice(0, 1), sheet];
  }

  override render(): TemplateResult {
    return html`${this.#shown}`;
  }
}

export class MailPreview extends LitElement {
  static override properties = { format: { attribute: false }, mail: { attribute: false } };
  declare format: Format;
  declare mail: SentPreview;

  static override styles = [
    baseStyles,
    css`
      section {
        display: grid;
        gap: 8px;
        min-width: 0;
        padding: 12px;
        border: 1px solid var(--gl-border);
        border-radius: 10px;
      }
      h3 {
        margin: 0;
        font-size: 15px;
        overflow-wrap: anywhere;
      }
      p {
        margin: 0;
        color: var(--gl-muted);
        font-size: 13px;
      }
      pre {
        margin: 8px 0 0;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        font-size: 12px;
      }
      guestlist-mail-page {
        border: 1px solid var(--gl-border);
        border-radius: 8px;
      }
    `,
  ];

  override render(): TemplateResult {
    const { mail, format } = this;
    const { text } = format;
    const files = mail.files.map(({ name }) => name).join(', ');
    return html`<section aria-label=${text('Preview')}>
      <h3>${mail.subject}</h3>
      <p>${text('The message as you would get it now. Others get it with their own rows.')}</p>
      <guestlist-mail-page tabindex="0" role="document" aria-label=${mail.subject} .page=${mail.html}></guestlist-mail-page>
      ${files === '' ? nothing : html`<p>${text('Attached: {files}', { files })}</p>`}
      <details><summary>${text('Plain text')}</summary><pre>${mail.text}</pre></details>
    </section>`;
  }
}
