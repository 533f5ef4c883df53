/** A choice of recipients: roles and users of the tenant, and addresses of allowed domains. The service decides again. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { readAddress } from '../../model/schedule/address.js';
import { type Audience, mostNamed, type Recipients } from '../../model/schedule/recipients.js';
import type { Format } from '../base/format.js';
import { closeIcon } from '../base/icons.js';
import { matcher } from '../base/search.js';
import { searchField } from '../base/search-field.js';
import { baseStyles } from '../base/theme.js';
import { formStyles } from './form-styles.js';
import { listName, userName } from './schedule-words.js';

/** Users that are shown at once. A search finds the others. */
const mostShown = 50;
/** From this number of users on, there is a search. */
const fewUsers = 8;

type Kind = keyof Recipients;

export class RecipientsField extends LitElement {
  static override shadowRootOptions = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  static override properties = {
    format: { attribute: false },
    audience: { attribute: false },
    value: { attribute: false },
    unconfirmed: { attribute: false },
    fault: { attribute: false },
    search: { state: true },
    refused: { state: true },
  };
  declare format: Format;
  declare audience: Audience;
  declare value: Recipients;
  /** Addresses that nobody has confirmed. */
  declare unconfirmed: readonly string[];
  /** What the service says against the choice. */
  declare fault: string | undefined;
  declare search: string;
  /** Why the address was not added. */
  declare refused: string | undefined;

  #opened: Recipients = { users: [], roles: [], addresses: [] };

  constructor() {
    super();
    this.unconfirmed = [];
    this.search = '';
  }

  static override styles = [
    baseStyles,
    formStyles,
    css`
      :host {
        display: grid;
        gap: 12px;
      }
      .users {
        display: grid;
        max-height: 220px;
        padding: 4px 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        overflow-y: auto;
      }
      .users .check {
        overflow-wrap: anywhere;
      }
      .add {
        display: flex;
        gap: 8px;
      }
      .add input {
        flex: 1;
      }
      ul {
        display: grid;
        gap: 2px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      li {
        display: flex;
        align-items: center;
        gap: 8px;
        font-size: 13px;
      }
      li > span:first-child {
        overflow-wrap: anywhere;
      }
    `,
  ];

  override willUpdate(): void {
    if (!this.hasUpdated) this.#opened = this.value;
  }

  override render(): TemplateResult {
    const { roles, users } = this.audience;
    const hasAddresses = this.audience.domains.length > 0 || this.value.addresses.length > 0;
    return html`
      <p class="fault" role="alert" ?hidden=${this.fault === undefined}>${this.fault}</p>
      ${roles.length + this.value.roles.length === 0 ? nothing : this.#roles()}
      ${users.length + this.value.users.length === 0 ? nothing : this.#users()}
      ${hasAddresses ? this.#addresses() : nothing}`;
  }

  #roles(): TemplateResult {
    const { text } = this.format;
    const names = [...new Set([...this.audience.roles, ...this.value.roles])];
    return html`<fieldset>
      <legend>${text('Roles')}</legend>
      <p class="quiet">${text('All users who have the role when it is sent')}</p>
      <div class="days">${names.map((role) => this.#check('roles', role, role))}</div>
    </fieldset>`;
  }

  #users(): TemplateResult {
    const { text } = this.format;
    const { audience } = this;
    // A user who is no longer known stays visible until the choice is changed.
    const gone = this.value.users.filter((id) => !audience.users.some(({ userIdentifier }) => userIdentifier === id));
    const all = [...audience.users, ...gone.map((userIdentifier) => ({ userIdentifier, address: null }))];
    const isWanted = matcher(this.search);
    const found = all.filter(({ userIdentifier, address }) => isWanted(`${userIdentifier} ${address ?? ''}`));
    const label = text('Search {name}', { name: text('Users') });
    const search = (wanted: string) => {
      this.search = wanted;
    };
    const shown = found.toSorted((a, b) => this.#compare(a.userIdentifier, b.userIdentifier)).slice(0, mostShown);
    return html`<fieldset>
      <legend>${text('Users')}</legend>
      <p class="quiet">${text('Each gets what this user may see when it is sent')}</p>
      ${
        all.length > fewUsers
          ? searchField({ label, placeholder: text('Search'), value: this.search, search })
          : nothing
      }
      <div class="users" role="group" aria-label=${text('Users')}>
        ${repeat(
          shown,
          ({ userIdentifier }) => userIdentifier,
          (user) => this.#user(user),
        )}
        ${shown.length === 0 ? html`<p class="quiet">${text('Nothing found')}</p>` : nothing}
      </div>
      ${shown.length < found.length ? html`<p class="quiet">${text('More than {n} found. Search to find others.', { n: shown.length })}</p>` : nothing}
    </fieldset>`;
  }

  /** Those who were chosen at the opening come first, and nobody moves when a choice changes. */
  #compare(one: string, other: string): number {
    const { users } = this.#opened;
    const isFirst = Number(users.includes(other)) - Number(users.includes(one));
    return isFirst || userName(one, this.audience).localeCompare(userName(other, this.audience), this.format.language);
  }

  #user({ userIdentifier, address }: Audience['users'][number]): TemplateResult {
    const name = userName(userIdentifier, this.audience);
    const why = this.format.text('No address that may be written to');
    return this.#check('users', userIdentifier, address === null ? `${name} (${why})` : name);
  }

  #check(kind: 'roles' | 'users', value: string, label: string): TemplateResult {
    const isChosen = this.value[kind].includes(value);
    const isFull = !isChosen && this.value[kind].length >= mostNamed;
    const change = ({ target }: Event) => this.#put(kind, value, target instanceof HTMLInputElement && target.checked);
    return html`<label class="check"><input type="checkbox" .checked=${live(isChosen)} ?disabled=${isFull} @change=${change} /> ${label}</label>`;
  }

  #addresses(): TemplateResult {
    const { text } = this.format;
    const { refused } = this;
    const { domains } = this.audience;
    return html`<fieldset>
      <legend><label for="address">${text('Addresses without an account')}</label></legend>
      <p class="quiet">${text('They get what you may see when it is sent, once they have confirmed the address')}</p>
      ${
        domains.length === 0
          ? nothing
          : html`<div class="add">
              <input id="address" type="text" inputmode="email" part="input" maxlength="254" autocomplete="off"
                placeholder="…@${domains[0]}" @keydown=${this.#entered} @input=${() => this.#refuse(undefined)}
                aria-invalid=${refused === undefined ? nothing : 'true'}
                aria-describedby=${refused === undefined ? nothing : 'refused'} />
              <button class="button" part="button" type="button" @click=${this.#add}>${text('Add')}</button>
            </div>`
      }
      <p class="fault" id="refused" role="alert" ?hidden=${refused === undefined}>${refused}</p>
      <ul>${this.value.addresses.map((address) => this.#address(address))}</ul>
    </fieldset>`;
  }

  #address(address: string): TemplateResult {
    const { text } = this.format;
    const label = text('Remove {name}', { name: address });
    return html`<li>
      <span dir="ltr">${address}</span>
      ${this.unconfirmed.includes(address) ? html`<span class="quiet">${text('Waiting for confirmation')}</span>` : nothing}
      <button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
        @click=${() => this.#put('addresses', address, false)}>${closeIcon}</button>
    </li>`;
  }

  /** Enter adds the address, and does not save the form. */
  readonly #entered = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    this.#add();
  };

  readonly #add = (): void => {
    const input = this.renderRoot.querySelector<HTMLInputElement>('#address');
    const address = input?.value.trim() ?? '';
    if (input === null || address === '') return;
    const { domains } = this.audience;
    const { text } = this.format;
    if (readAddress(address, domains) === undefined) {
      this.#refuse(text('Only addresses of {domains} may get it', { domains: listName(domains, this.format) }));
    } else if (this.value.addresses.length >= mostNamed) {
      this.#refuse(text('At most {n} addresses', { n: mostNamed }));
    } else {
      input.value = '';
      this.#put('addresses', address, true);
    }
    input.focus();
  };

  #refuse(reason: string | undefined): void {
    this.refused = reason;
  }

  #put(kind: Kind, name: string, isChosen: boolean): void {
    const others = this.value[kind].filter((each) => each !== name);
    this.value = { ...this.value, [kind]: isChosen ? [...others, name] : others };
    this.dispatchEvent(new CustomEvent('choose'));
  }
}
