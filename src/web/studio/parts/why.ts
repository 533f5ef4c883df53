/** Why a card is shown, hidden or empty for the chosen user: the policy's rules with their places, filters, and rows. */

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { MetricDefinition } from '../../../model/dashboard/metric.js';
import type { GuestFilter } from '../../../model/guest/view.js';
import { counted } from '../../../model/texts/counted.js';
import { getGuestDashboard, queryGuestMetric } from '../../base/guest-operations.js';
import { type Api, StudioError, type View } from '../base/api.js';
import { askAuthored } from '../base/author-preview.js';
import { type ClosedCard, whyClosed } from '../base/card-words.js';
import { type Content, readContent, type Template, type TemplateMetric } from '../base/content.js';
import { badge, link } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { textOf } from '../base/screen.js';
import { askAs, explainViewer, nameOf, spokenOf, type Viewer } from '../base/viewer.js';
import { explained } from './explained.js';

type State = 'shown' | 'hidden' | 'empty' | 'fails';
type Finding = { readonly metric: TemplateMetric; readonly state: State; readonly reasons: readonly string[] };

const colours = { shown: 'good', hidden: 'warn', empty: 'warn', fails: 'bad' } as const;

type Filter = Pick<GuestFilter, 'name' | 'defaultValue'>;

export class Why extends LitElement {
  static override properties = {
    api: { attribute: false },
    view: { attribute: false },
    viewer: { attribute: false },
    template: { attribute: false },
    content: { attribute: false },
    copy: {},
    finding: { state: true },
    explanation: { state: true },
    isBusy: { state: true },
    problem: { state: true },
  };
  declare api: Api;
  declare view: View;
  declare viewer: Viewer;
  declare template: Template;
  declare content: Content;
  /** The id of the user's copy. */
  declare copy: string;
  declare finding: Finding | undefined;
  /** What the policy decides for the user. */
  declare explanation: Awaited<ReturnType<typeof explainViewer>> | undefined;
  declare isBusy: boolean;
  declare problem: string;

  constructor() {
    super();
    this.isBusy = false;
    this.problem = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { metrics } = this.content.data;
    return html`<details class="card"><summary>Why is a card shown, hidden or empty?</summary>
      <form class="toolbar" @submit=${this.#ask}>
        <label>Card <select name="metric">${metrics.map(({ metricId, name }) => html`<option value=${metricId}>${name}</option>`)}</select></label>
        <button class="quiet" ?disabled=${this.isBusy || metrics.length === 0}>${this.isBusy ? 'Looking…' : 'Say why'}</button>
      </form>
      <p class="failure" role="alert" ?hidden=${this.problem === ''}>${this.problem}</p>
      <div role="status">${this.finding === undefined ? nothing : this.#found(this.finding)}</div>
    </details>`;
  }

  #found({ metric, state, reasons }: Finding): TemplateResult {
    return html`<p>“${metric.name}” for ${nameOf(this.viewer)}: ${badge(state, colours[state])}</p>
      <ul>${reasons.map((text) => html`<li>${text}</li>`)}</ul>
      <h2>What the policy decides</h2>
      ${this.explanation === undefined ? nothing : explained(this.explanation, spokenOf(this.viewer))}
      <p>${link(addressOf('policy'), 'Open the policy')}</p>`;
  }

  readonly #ask = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const id = new FormData(event.target).get('metric');
    const metric = this.content.data.metrics.find(({ metricId }) => metricId === id);
    if (metric === undefined) return;
    this.isBusy = true;
    this.problem = '';
    try {
      const explanation = await explainViewer(this.api, this.viewer);
      const own = explanation.cards.find(({ source }) => source === this.template.dashboardId);
      const closed = own?.refused.find(({ name }) => name === metric.name);
      this.finding = { metric, ...(await this.#find(metric, closed)) };
      this.explanation = explanation;
    } catch (error) {
      this.finding = undefined;
      this.problem = textOf(error);
    } finally {
      this.isBusy = false;
    }
  };

  async #find({ metricId }: TemplateMetric, closed: ClosedCard | undefined): Promise<Omit<Finding, 'metric'>> {
    const { workspaceName } = this.template;
    const { data } = await readContent(this.api, { workspaceName, dashboardId: this.copy });
    const copied = data.metrics.find((one) => one.metricId === metricId || one.lineage.includes(metricId));
    if (copied === undefined)
      return { state: 'hidden', reasons: [`The copy ${this.copy} does not have it: it comes with the next roll-out.`] };
    const seen = await askAs(this.view, getGuestDashboard, { dashboardId: this.copy });
    const own = seen.metrics.find((one) => one.metricId === copied.metricId);
    if (own === undefined)
      return { state: 'hidden', reasons: [closed === undefined ? this.#hiddenBy(copied) : whyClosed(closed)] };
    const answered = await this.#answered(copied, [...seen.filters, ...own.filters]);
    if (answered.state !== 'fails' || closed === undefined) return answered;
    return { ...answered, reasons: [whyClosed(closed), ...answered.reasons] };
  }

  #hiddenBy({ placement }: TemplateMetric): string {
    return placement === 'GALLERY'
      ? 'It is in the gallery of the copy, and not on the dashboard.'
      : `The policy hides it, or a restriction binds a filter that it does not have: ${this.#restrictions}`;
  }

  get #restrictions(): string {
    const own = this.view.because
      .filter(({ kind }) => kind === 'restriction')
      .map(({ name, at }) => `“${name}” at ${at}`);
    return own.length === 0 ? 'no restriction applies; see “hiddenMetrics” below.' : `${own.join(', ')}.`;
  }

  get #rules(): string {
    const own = this.view.because.filter(({ kind }) => kind === 'rule').map(({ name, at }) => `“${name}” at ${at}`);
    return own.join(', ') || 'none';
  }

  async #answered(
    { metricId, definition }: TemplateMetric,
    filters: readonly Filter[],
  ): Promise<Omit<Finding, 'metric'>> {
    const granted = `Rules that grant the dashboard: ${this.#rules}.`;
    const restricted = `Restrictions that apply: ${this.#restrictions}`;
    try {
      const data = await askAs(this.view, queryGuestMetric, { metricId, dashboardId: this.copy });
      const isEmpty = data.every((row) => Object.values(row).every((value) => value === null));
      if (!isEmpty) return { state: 'shown', reasons: [granted, restricted, `It has ${counted(data.length, 'row')}.`] };
    } catch (error) {
      if (error instanceof StudioError) throw error;
      return { state: 'fails', reasons: [textOf(error), granted, restricted] };
    }
    return { state: 'empty', reasons: [...(await this.#emptiness(definition, filters)), granted, restricted] };
  }

  /** What leaves no row: the tenant has none, or conditions and default values of filters take them all away. */
  async #emptiness(definition: MetricDefinition, filters: readonly Filter[]): Promise<readonly string[]> {
    if (definition.kind === 'sql') return ['Its SQL answers no row for this user.'];
    const { schemaName, tableName } = definition.from;
    const all = {
      dashboardId: this.copy,
      definition: {
        chart: { type: 'singleValue' },
        from: { schemaName, tableName },
        measures: [{ name: 'rows', aggregate: 'COUNT' }],
      },
    };
    const { rows: answered } = await askAuthored(this.api, this.view, all, new AbortController().signal, () => {});
    const rows = Number(answered[0]?.rows ?? 0);
    if (rows === 0)
      return [
        `${schemaName}.${tableName} has no rows that this user may read: the tenant has none, or a restriction leaves none.`,
      ];
    const defaults = filters.filter(({ defaultValue }) => defaultValue !== undefined && defaultValue !== null);
    return [
      `${schemaName}.${tableName} has ${counted(rows, 'row')} that this user may read.`,
      ...(defaults.length === 0 ? [] : [`Filters begin with a value: ${defaults.map(({ name }) => name).join(', ')}.`]),
      ...(definition.where === undefined && definition.filters.length === 0
        ? []
        : ['The card has conditions of its own, which none of these rows passes.']),
    ];
  }
}

customElements.define('studio-why', Why);
