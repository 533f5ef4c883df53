/** The tenants of a session, to choose the one that is shown. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Format } from '../base/format.js';
import { type Choice, options } from '../base/options.js';
import { baseStyles } from '../base/theme.js';
import type { OwnTenant } from '../token/keeper.js';

/** What stands beside a name of the other direction must not be turned around. */
const isolated = (text: string): string => `\u2068${text}\u2069`;

/** In the order of names. The id stands beside names that several tenants have, and alone where there is no name. */
const tenantChoices = (tenants: readonly OwnTenant[], language: string): readonly Choice[] => {
  const counts = new Map<string, number>();
  for (const { name } of tenants) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  const label = ({ id, name }: OwnTenant): string => {
    // A label begins with its first letter, which users type to find it.
    if (name === undefined) return id;
    return (counts.get(name) ?? 0) > 1 ? `${name} ${isolated(`(${id})`)}` : name;
  };
  const { compare } = new Intl.Collator(language, { numeric: true });
  return tenants
    .map((tenant): Choice => [tenant.id, label(tenant)])
    .toSorted(([, one], [, other]) => compare(one, other));
};

/** Fires `choose` with the id of the tenant that the user chose. */
export class TenantSwitcher extends LitElement {
  static override properties = {
    // Draws the choice again after one that was not taken.
    tenants: { attribute: false, hasChanged: () => true },
    current: { attribute: false },
    format: { attribute: false },
  };
  declare tenants: readonly OwnTenant[];
  /** The id of the tenant that is shown; empty: none is chosen. */
  declare current: string;
  declare format: Format;

  static override styles = [
    baseStyles,
    css`
      label {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 8px;
        font-size: 13px;
      }
      select {
        box-sizing: border-box;
        min-height: 34px;
        max-width: min(100%, 40ch);
        padding: 0 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        color: inherit;
        font: inherit;
        text-overflow: ellipsis;
      }
    `,
  ];

  override render(): TemplateResult {
    const { current } = this;
    const { text, language } = this.format;
    const choices = tenantChoices(this.tenants, language);
    const label = choices.find(([id]) => id === current)?.[1];
    const first = current === '' ? [['', text('Choose an organization')] as const] : [];
    return html`<label part="tenants"><span>${text('Organization')}</span>
      <select part="input" title=${label ?? nothing} @change=${this.#choose}>${options([...first, ...choices], current)}</select></label>`;
  }

  readonly #choose = ({ target }: Event): void => {
    const { value: detail } = target as HTMLSelectElement;
    if (detail !== '') this.dispatchEvent(new CustomEvent<string>('choose', { detail }));
  };
}
