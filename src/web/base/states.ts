/** What a card shows instead of a chart: loading, no data, a failure. */
import { css, html, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';

export const stateStyles = css`
  .state {
    display: grid;
    place-content: center;
    justify-items: center;
    gap: 8px;
    min-height: 100%;
    padding: 12px 16px;
    text-align: center;
  }
  .state p {
    margin: 0;
    max-width: 46ch;
    overflow-wrap: anywhere;
  }
  .state strong {
    font-weight: 600;
  }
  .state .button {
    margin-top: 4px;
  }
  .skeleton {
    position: relative;
    overflow: hidden;
    height: 100%;
    min-height: 24px;
    border-radius: 8px;
    background: var(--gl-skeleton);
  }
  .skeleton::after {
    content: '';
    position: absolute;
    inset: 0;
    background: linear-gradient(90deg, transparent, var(--gl-surface), transparent);
    opacity: 0.55;
    transform: translateX(-100%);
    animation: sheen 1.4s ease-in-out infinite;
  }
  @keyframes sheen {
    to {
      transform: translateX(100%);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .skeleton::after {
      display: none;
    }
  }
`;

export const loadingState = (label: string): TemplateResult =>
  html`<div class="skeleton"></div><span class="sr" role="status">${label}</span>`;

export const emptyState = (text: string, action?: TemplateResult): TemplateResult =>
  html`<div class="state" part="state" role="status"><p class="quiet">${text}</p>${action}</div>`;

/** `message` is the service's message for end users. It is inserted as text, never as HTML. */
export const errorState = (
  text: Text,
  title: string,
  message: string,
  retry?: () => void,
  isOutdated = false,
): TemplateResult => html`
  <div class="state" part="state" role="alert">
    <p><strong>${title}</strong></p>
    <p class="quiet">${message}</p>
    ${retry === undefined ? null : html`<button class="button" part="button" type="button" @click=${retry}>${text('Try again')}</button>`}
    ${isOutdated ? html`<button class="button" part="button" type="button" @click=${() => location.reload()}>${text('Reload the page')}</button>` : null}
  </div>
`;
