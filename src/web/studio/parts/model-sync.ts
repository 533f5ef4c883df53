/** What the database of a model has that the model does not, and the other way round; each difference is decided here. */

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { counted } from '../../../model/texts/counted.js';
import { options } from '../../base/options.js';
import { type Api, StudioError } from '../base/api.js';
import { badge, confirmed } from '../base/kit.js';
import {
  type Accepted,
  acceptedBy,
  type Broken,
  brokenWords,
  comparedModel,
  type Decision,
  type Decisions,
  type Difference,
  decisionOf,
  decisionsFor,
  decisionWords,
  kindWords,
  undecided,
  whatChanged,
} from '../base/model-changes.js';
import type { StoredModel } from '../base/model-edit.js';
import { Part } from '../base/part.js';
import { textOf } from '../base/screen.js';

const colours = { new: 'good', renamed: 'warn', gone: 'bad', retyped: 'warn', leftOut: 'plain' } as const;

export class ModelSync extends Part {
  static override properties = {
    api: { attribute: false },
    model: { attribute: false },
    differences: { state: true },
    decisions: { state: true },
    failure: { state: true },
    isBusy: { state: true },
  };
  declare api: Api;
  declare model: StoredModel;
  /** Undefined: they are not known yet. */
  declare differences: readonly Difference[] | undefined;
  declare decisions: Decisions;
  declare failure: string | null;
  declare isBusy: boolean;

  constructor() {
    super();
    this.decisions = new Map();
    this.failure = null;
    this.isBusy = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('model') && changed.get('model')?.updatedAt !== this.model.updatedAt) void this.#compare();
  }

  async #ask(accept: ReturnType<typeof acceptedBy>) {
    const signal = this.gone;
    const { columnUses: uses } = await this.api.command('policy-read', {}, signal);
    const { name: datamartName } = this.model;
    return this.api.call('compareDatamart', { datamartName, model: comparedModel(this.model), uses, accept }, signal);
  }

  async #compare(): Promise<void> {
    this.failure = null;
    try {
      this.differences = (await this.#ask([])).data;
      this.decisions = new Map();
    } catch (error) {
      if (!this.gone.aborted) this.failure = textOf(error);
    }
  }

  protected override render(): TemplateResult {
    const { differences, failure } = this;
    const count = differences?.length ?? 0;
    return html`<section class="card model-sync"><h2>Changes in the database ${count === 0 ? nothing : badge(String(count), 'warn')}</h2>
      <div role="status">${failure === null ? nothing : html`<p class="notice bad">${failure}</p>`}
        ${differences === undefined && failure === null ? html`<div class="skeleton" role="status" aria-busy="true" aria-label="Comparing"><i></i></div>` : nothing}
        ${differences?.length === 0 ? html`<p class="soft">The database has what this model says. Nothing is new but what was left out.</p>` : nothing}
      </div>
      ${count === 0 ? nothing : html`<ul class="changes">${differences?.map((one) => this.#difference(one))}</ul>`}
      <div class="buttons">
        <button type="button" class="quiet" ?disabled=${this.isBusy} @click=${() => void this.#compare()}>Compare again</button>
        ${count === 0 ? nothing : this.#saveButton()}
      </div>
    </section>`;
  }

  #difference(one: Difference): TemplateResult {
    const choices = decisionsFor(one);
    const decision = decisionOf(one, this.decisions);
    const choose = (event: Event): void => {
      const value = (event.target as HTMLSelectElement).value as Decision;
      this.decisions = new Map([...this.decisions, [one.name, value]]);
    };
    return html`<li class="difference">
      <div class="difference-text">
        <p class="difference-line">${badge(kindWords(one), colours[one.change.kind])} <code>${one.name}</code></p>
        <p class="difference-line">${whatChanged(one)} ${one.caution === null ? nothing : html`<strong>Not proposed: ${one.caution}.</strong>`}</p>
        ${one.breaks.length === 0 || one.change.kind === 'new' ? nothing : html`<p class="difference-line">Without it, ${one.breaks.length === 1 ? 'this breaks' : `these ${one.breaks.length} break`}:</p>${broken(one.breaks)}`}
      </div>
      ${
        choices.length === 0
          ? nothing
          : html`<select class="decision" aria-label="Decision about ${one.name}" ?disabled=${this.isBusy} @change=${choose}>
              ${options(
                choices.map((choice) => [choice, decisionWords(one, choice)] as const),
                decision,
              )}
            </select>`
      }
    </li>`;
  }

  #saveButton(): TemplateResult {
    const { differences = [], decisions } = this;
    const open = undecided(differences, decisions);
    const accepted = acceptedBy(differences, decisions);
    const isOff = this.isBusy || accepted.length === 0 || open.length > 0;
    return html`<button type="button" ?disabled=${isOff} @click=${() => void this.#save()}>Save ${counted(accepted.length, 'change')}</button>
      ${open.length === 0 ? nothing : html`<p class="hint">Decide about ${open.map(({ name }) => name).join(', ')} first: no model is saved with what its database lacks.</p>`}`;
  }

  async #save(): Promise<void> {
    const { differences = [], decisions, model } = this;
    this.isBusy = true;
    this.failure = null;
    try {
      const { accepted } = await this.#ask(acceptedBy(differences, decisions));
      if (accepted === null) return;
      if (accepted.fault !== null) throw new Error(accepted.fault);
      if (!(await isConfirmed(accepted))) return;
      const { name: datamartName, updatedAt: expectedUpdatedAt } = model;
      await this.api.call('updateDatamart', { datamartName, expectedUpdatedAt, ...accepted.model });
      this.dispatchEvent(new CustomEvent('model-synced', { bubbles: true }));
    } catch (error) {
      const isStale = error instanceof StudioError && error.code === 'DATAMART_CHANGED';
      this.failure = isStale ? 'Somebody changed this model meanwhile. Open it again.' : textOf(error);
    } finally {
      this.isBusy = false;
    }
  }
}

const broken = (breaks: readonly Broken[]): TemplateResult =>
  html`<ul>${breaks.map((one) => html`<li>${brokenWords(one)}</li>`)}</ul>`;

/** Asks only where something breaks. */
const isConfirmed = async ({ breaks }: Accepted): Promise<boolean> =>
  breaks.length === 0 ||
  confirmed('Save the model?', `These break: ${breaks.map(brokenWords).join('; ')}.`, 'Save all the same');

customElements.define('studio-model-sync', ModelSync);
