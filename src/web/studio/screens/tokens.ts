/** The guest tokens that are in use, and how to end them. */
import { html, nothing, type TemplateResult } from 'lit';
import { hasRole, type OperationAnswer } from '../base/api.js';
import { type Column, confirmed, type Filter, list, timeColumn } from '../base/kit.js';
import { Screen } from '../base/screen.js';
import { tenantLabel, tenantLink, tenantText } from '../base/tenant-names.js';

type Token = OperationAnswer<'listGuestTokens'>['data'][number];

class TokensScreen extends Screen<readonly Token[]> {
  protected override async load(signal: AbortSignal): Promise<readonly Token[]> {
    return (await this.api.call('listGuestTokens', {}, signal)).data;
  }

  protected override content(tokens: readonly Token[]): TemplateResult {
    const mayRevoke = hasRole(this.api.session, 'support');
    return html`<div class="head"><h1>Guest tokens</h1><p>Each page with charts uses one. Only the hash of a token is stored.</p></div>
      ${list({
        ...{ name: 'tokens', rows: tokens, filters, query: this.place.query },
        columns: [...columns, ...(mayRevoke ? [this.#revoking] : [])],
        empty: html`<h2>No token is in use</h2>`,
        actions: mayRevoke
          ? html`<button type="button" class="danger" ?disabled=${this.isBusy} @click=${() => void this.#revokeAll()}>End all</button>`
          : html`${nothing}`,
      })}`;
  }

  readonly #revoking: Column<Token> = {
    title: 'Action',
    of: ({ clientId }) =>
      html`<button type="button" class="text" ?disabled=${this.isBusy} @click=${() => void this.#revoke(clientId)}>End those of ${tenantLabel(clientId)}</button>`,
  };

  async #revoke(tenant: string): Promise<void> {
    const text = 'Pages that are open get a new token by themselves, decided anew by the policy.';
    if (!(await confirmed(`End the tokens of ${tenantText(tenant)}?`, text, 'End them'))) return;
    await this.act(async () => {
      await this.api.command('revoke', { by: 'tenant', tenant, reason: 'ended in Studio' });
      return `The tokens of ${tenantText(tenant)} have ended.`;
    });
  }

  async #revokeAll(): Promise<void> {
    const text = 'Every open page asks for a new token, decided anew by the policy.';
    if (!(await confirmed('End all guest tokens?', text, 'End them all'))) return;
    await this.act(async () => {
      await this.api.command('revoke', { by: 'all', reason: 'ended in Studio' });
      return 'All guest tokens have ended.';
    });
  }
}

const filters: readonly Filter<Token>[] = [
  { name: 'tenant', label: 'Tenant', of: ({ clientId }) => clientId, words: tenantText },
  {
    name: 'use',
    label: 'Use',
    of: ({ lastUsedAt }) => (lastUsedAt === null ? 'not yet used' : 'used'),
    values: ['used', 'not yet used'],
  },
  {
    name: 'end',
    label: 'Ends',
    of: ({ expiresAt }) => (expiresAt === null ? 'never' : 'by itself'),
    values: ['by itself', 'never'],
  },
];

const columns: readonly Column<Token>[] = [
  {
    title: 'Tenant',
    of: ({ clientId }) => tenantLink(clientId),
    text: ({ clientId }) => tenantText(clientId),
  },
  timeColumn('Made', ({ createdAt }) => createdAt),
  timeColumn('Ends', ({ expiresAt }) => expiresAt, 'never'),
  timeColumn('Last used', ({ lastUsedAt }) => lastUsedAt, 'not yet'),
];

customElements.define('studio-tokens', TokensScreen);
