/** The rollups of a model: what their files have, and those that would answer what was asked. For people with access to data. */

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import { type Api, type OperationAnswer, StudioError } from '../base/api.js';
import { badge } from '../base/kit.js';
import type { StoredModel } from '../base/model-edit.js';
import { Part } from '../base/part.js';
import { textOf } from '../base/screen.js';

type Kept = OperationAnswer<'listRollups'>['data'][number];
type Proposal = OperationAnswer<'proposeRollups'>['data'];
type Proposed = Proposal['proposed'][number];
type Rollup = Proposed['rollup'];

const states = {
  none: ['not built', 'warn'],
  current: ['in force', 'good'],
  outdated: ['outdated', 'warn'],
} as const satisfies Record<Kept['state'], unknown>;

export class ModelRollups extends Part {
  static override properties = {
    api: { attribute: false },
    model: { attribute: false },
    kept: { state: true },
    proposal: { state: true },
    notice: { state: true },
    isBusy: { state: true },
  };
  declare api: Api;
  declare model: StoredModel;
  /** Undefined: not known yet, or not to be known. */
  declare kept: readonly Kept[] | undefined;
  /** Undefined: nobody has asked for it. */
  declare proposal: Proposal | undefined;
  declare notice: { readonly text: string; readonly isBad: boolean } | null;
  declare isBusy: boolean;

  constructor() {
    super();
    this.notice = null;
    this.isBusy = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('model') && changed.get('model')?.updatedAt !== this.model.updatedAt) void this.#read();
  }

  /** Says nothing unless it fails, so that what was done before stays said. */
  async #read(): Promise<void> {
    const signal = this.gone;
    this.kept = undefined;
    if (this.#declared.length === 0) return;
    try {
      this.kept = (await this.api.call('listRollups', { datamartName: this.model.name }, signal)).data;
    } catch (error) {
      if (!signal.aborted) this.notice = { text: textOf(error), isBad: true };
    }
  }

  get #declared(): readonly Rollup[] {
    return this.model.rollups ?? [];
  }

  /** Runs one action at a time. Its text is what it did. */
  async #act(
    work: (of: { readonly datamartName: string }, signal: AbortSignal) => Promise<string | null>,
  ): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.notice = null;
    try {
      const text = await work({ datamartName: this.model.name }, this.gone);
      this.notice = text === null ? null : { text, isBad: false };
    } catch (error) {
      const isStale = error instanceof StudioError && error.code === 'DATAMART_CHANGED';
      const text = isStale ? 'Somebody changed this model meanwhile. Open it again.' : textOf(error);
      if (!this.gone.aborted) this.notice = { text, isBad: true };
    } finally {
      this.isBusy = false;
    }
  }

  readonly #propose = (): Promise<void> =>
    this.#act(async (of, signal) => {
      this.proposal = (await this.api.call('proposeRollups', of, signal)).data;
      return null;
    });

  #add(rollup: Rollup): Promise<void> {
    return this.#act(async (of) => {
      const { updatedAt: expectedUpdatedAt } = this.model;
      await this.api.call('updateDatamart', { ...of, expectedUpdatedAt, rollups: [...this.#declared, rollup] });
      this.proposal = undefined;
      this.dispatchEvent(new CustomEvent('model-synced', { bubbles: true }));
      return `${rollup.name} is in the model. Build it to have it answer.`;
    });
  }

  #build(rollupName: string): Promise<void> {
    return this.#act(async (of, signal) => {
      const { data } = await this.api.call('buildRollup', { ...of, rollupName }, signal);
      this.kept = [...(this.kept ?? []).filter(({ name }) => name !== rollupName), data];
      return `${rollupName} is in force: ${rowsText(data)}.`;
    });
  }

  protected override render(): TemplateResult {
    const { notice, proposal } = this;
    const declared = this.#declared;
    return html`<section class="card model-rollups" aria-busy=${this.isBusy ? 'true' : 'false'}><h2>Rollups</h2>
      <p class="soft">A rollup keeps sums of a table beside the source. Charts whose columns and filters are all in it are answered from it, and any other from the source.</p>
      <div role="status">${notice === null ? nothing : html`<p class=${notice.isBad ? 'notice bad' : 'notice'}>${notice.text}</p>`}</div>
      ${declared.length === 0 ? html`<p>This model has none.</p>` : html`<ul class="changes">${declared.map((one) => this.#declaredItem(one))}</ul>`}
      ${proposal === undefined ? nothing : this.#proposed(proposal)}
      <div class="buttons">
        <button type="button" class="quiet" ?disabled=${this.isBusy} @click=${() => void this.#propose()}>Propose rollups of what was asked</button>
      </div>
    </section>`;
  }

  #declaredItem(rollup: Rollup): TemplateResult {
    const kept = this.kept?.find(({ name }) => name === rollup.name);
    const [word, colour] = kept === undefined ? ['', 'plain' as const] : states[kept.state];
    return html`<li class="difference">
      <div class="difference-text">
        <p class="difference-line"><strong>${rollup.name}</strong> ${word === '' ? nothing : badge(word, colour)}</p>
        <p class="difference-line">${columnsText(rollup)}</p>
        ${kept === undefined || kept.state === 'none' ? nothing : html`<p class="difference-line soft">${rowsText(kept)}</p>`}
      </div>
      <button type="button" class="quiet" ?disabled=${this.isBusy} aria-label="Build ${rollup.name}" @click=${() => void this.#build(rollup.name)}>Build</button>
    </li>`;
  }

  #proposed({ proposed, left }: Proposal): TemplateResult {
    return html`<h3>Proposed</h3>
      ${proposed.length === 0 ? html`<p class="soft">No other rollup would answer what was asked in the last 28 days.</p>` : html`<ul class="changes">${proposed.map((one) => this.#proposedItem(one))}</ul>`}
      ${left.length === 0 ? nothing : html`<details><summary>What they do not answer</summary><ul>${left.map(leftItem)}</ul></details>`}`;
  }

  #proposedItem({ rollup, reason, names }: Proposed): TemplateResult {
    return html`<li class="difference">
      <div class="difference-text">
        <p class="difference-line"><strong>${rollup.name}</strong></p>
        <p class="difference-line">${columnsText(rollup)}</p>
        <p class="difference-line soft">${reason} ${names.join(', ')}</p>
      </div>
      <button type="button" ?disabled=${this.isBusy} aria-label="Add to the model: ${rollup.name}" @click=${() => void this.#add(rollup)}>Add to the model</button>
    </li>`;
  }
}

const columnsText = ({ from, dimensions, grain, measures, partition }: Rollup): string => {
  const sums = measures.map(({ aggregate, column }) => `${aggregate} of ${column}`);
  const groups = [`${partition.column} by ${grain}`, ...dimensions];
  return `${['the number of rows', ...sums].join(', ')} of ${from}, by ${groups.join(', ')}`;
};

const rowsText = ({ rows, sourceRows, closedUntil }: Kept): string =>
  `${counted(rows, 'row')} of ${sourceRows.toLocaleString()}, until ${closedUntil ?? 'now'}`;

const leftItem = ({ why, names, queries, ms }: Proposal['left'][number]): TemplateResult =>
  html`<li>${names.length === 0 ? 'Metrics of guests' : names.join(', ')}: ${why} <span class="soft">(${counted(queries, 'query', 'queries')}, ${Math.round(ms / 1000).toLocaleString()} s)</span></li>`;

customElements.define('studio-model-rollups', ModelRollups);
