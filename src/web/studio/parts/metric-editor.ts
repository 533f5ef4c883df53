/**
 * The editor of a metric as an author has it: chart and rows as the chosen user reads them, the SQL that runs with the
 * tenant's scope marked, and the definition as JSON, which the server checks as it is typed. All of it has one history.
 */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { MetricDefinition } from '../../../model/dashboard/metric.js';
import { createLatest } from '../../base/latest.js';
import { type Draft, definitionOf, draftOf, wholeOf } from '../../editor/draft.js';
import type { Authoring, InitialMetric, SaveMetric } from '../../editor/panel.js';
import type { Api, View } from '../base/api.js';
import { askAuthored, describeAuthored, toGuestError } from '../base/author-preview.js';
import { placeOfPath, readPlacedJson } from '../base/placed-json.js';
import { textOf } from '../base/screen.js';
import { type CodeFault, placeOf } from '../base/sql-faults.js';
import { scopedStatement } from './scoped-statement.js';

/** Asks whether the metric is to be in SQL from now on, and writes it. Throws why it cannot be. */
export type TurnIntoSql = (definition: MetricDefinition, signal: AbortSignal) => Promise<void>;

/** What the server says of the definition: the statement, or what is wrong. */
type Told = { readonly sql: string } | { readonly fault: string };

const pauseMs = 300;
const tabs = [
  { name: 'sql', title: 'SQL' },
  { name: 'definition', title: 'Definition' },
] as const;

class MetricEditor extends LitElement {
  static override properties = {
    api: { attribute: false },
    view: { attribute: false },
    dashboardId: { attribute: false },
    tenant: { attribute: false },
    initial: { attribute: false },
    save: { attribute: false },
    turn: { attribute: false },
    tab: { state: true },
    text: { state: true },
    told: { state: true },
    hasCode: { state: true },
    turning: { state: true },
  };
  declare api: Api;
  declare view: View;
  /** The id of the user's copy. */
  declare dashboardId: string;
  declare tenant: string;
  declare initial: InitialMetric | undefined;
  declare save: SaveMetric;
  declare turn: TurnIntoSql;
  declare tab: string;
  /** The definition as it stands in the editor of JSON. */
  declare text: string;
  declare told: Told | undefined;
  /** Whether the editor of code is loaded. */
  declare hasCode: boolean;
  /** Whether the metric is being turned into SQL, or why it cannot be. */
  declare turning: boolean | string;

  readonly #asking = createLatest();
  #authoring: Authoring | undefined;
  #draft: Draft | undefined;
  #propose: (draft: Draft) => void = () => {};
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.tab = 'chart';
    this.text = '';
    this.hasCode = false;
    this.turning = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#pause);
    this.#asking.cancel();
  }

  override render(): TemplateResult {
    const { view } = this;
    this.#authoring ??= {
      save: (metric, signal) =>
        this.save(metric, signal).catch((error: unknown) => {
          throw toGuestError(error);
        }),
      preview: (body, signal) => askAuthored(this.api, this.view, body, signal, () => this.#ended()),
      tabs,
      drafted: (draft, propose) => this.#drafted(draft, propose),
      opened: (tab) => this.#opened(tab),
    };
    return html`<guestlist-editor class="embedded" token=${view.token} service-url=${location.origin + view.serviceUrl}
      dashboard-id=${this.dashboardId} theme="auto" .initial=${this.initial} .authoring=${this.#authoring}
      @token-expired=${() => this.#ended()}>
      <div slot="sql">${this.tab === 'sql' && this.hasCode ? this.#statement() : nothing}</div>
      <div slot="definition">${this.tab === 'definition' && this.hasCode ? this.#definition() : nothing}</div>
    </guestlist-editor>`;
  }

  #statement(): TemplateResult {
    const { told } = this;
    if (told === undefined)
      return html`<p class="soft">Choose a field: a number is added up, a text or date splits the chart.</p>`;
    if ('fault' in told) return html`<p class="failure" role="alert">${told.fault}</p>`;
    const { turning } = this;
    return html`<div class="toolbar"><button type="button" class="quiet" name="turn" ?disabled=${turning === true}
        @click=${() => void this.#turn()}>${turning === true ? 'Turning…' : 'Turn into SQL'}</button>
        <span class="soft">The fields become one SELECT that you edit as text.</span></div>
      ${typeof turning === 'string' ? html`<p class="failure" role="alert">${turning}</p>` : nothing}
      ${scopedStatement(told.sql, this.tenant)}`;
  }

  async #turn(): Promise<void> {
    const definition = this.#whole;
    if (definition === undefined) return;
    this.turning = true;
    await this.#asking.run(
      (signal) => this.turn(definition, signal),
      () => {
        this.turning = false;
      },
      (error) => {
        this.turning = textOf(error);
      },
    );
  }

  #definition(): TemplateResult {
    const faults = this.#faults();
    return html`<p class="soft">The definition as exports and files have it. It is checked while you type; what is right changes the chart.</p>
      <studio-code label="Definition" language="json" .words=${words} .text=${this.text} .faults=${faults}
        @text-change=${({ detail }: CustomEvent<string>) => this.#typed(detail)}></studio-code>
      ${faults.length === 0 ? html`<p class="soft" role="status">${this.told === undefined ? '' : 'The definition is valid.'}</p>` : html`<ul class="failure" role="alert">${faults.map(({ line, message }) => html`<li>Line ${line}: ${message}</li>`)}</ul>`}`;
  }

  #faults(): readonly CodeFault[] {
    if (this.text.trim() === '') return [];
    const read = readPlacedJson(this.text);
    if ('fault' in read) return [{ ...placeOf(this.text, read.fault.offset), message: read.fault.message }];
    const { told } = this;
    if (told === undefined || 'sql' in told) return [];
    return told.fault.split(/\n|; (?=(?:body\.)?definition[.[])/).map((message) => {
      const [, path = ''] = /^(?:body\.)?definition\.?([^:\s]*)/.exec(message) ?? [];
      return { ...placeOf(this.text, placeOfPath(read.places, path)), message: message.replace(/^body\./, '') };
    });
  }

  /** The editor has another draft: by a shelf, by undo, or by the text itself, which then stays as it was typed. */
  #drafted(draft: Draft, propose: (draft: Draft) => void): void {
    this.#propose = propose;
    if (draft === this.#draft) return;
    this.#draft = draft;
    this.turning = false;
    const definition = definitionOf(draft);
    const whole = definition === undefined ? undefined : wholeOf(definition);
    if (whole === undefined || JSON.stringify(whole) !== this.#typedJson) {
      this.#typedJson = undefined;
      this.text = definition === undefined ? '' : JSON.stringify({ kind: 'visual', ...definition }, null, 2);
      void this.#ask(whole);
    }
  }

  /** The definition that was typed and proposed. */
  #typedJson: string | undefined;

  #opened(tab: string): void {
    this.tab = tab;
    if (tab !== 'sql' && tab !== 'definition') return;
    void import('./code.js').then(() => {
      this.hasCode = true;
    });
    if (this.told === undefined) void this.#ask(this.#whole);
  }

  get #whole(): MetricDefinition | undefined {
    const definition = this.#draft === undefined ? undefined : definitionOf(this.#draft);
    return definition === undefined ? undefined : wholeOf(definition);
  }

  #typed(text: string): void {
    this.text = text;
    clearTimeout(this.#pause);
    this.#asking.cancel();
    const read = readPlacedJson(text);
    if ('fault' in read) return;
    this.#pause = setTimeout(() => void this.#try(read.value), pauseMs);
  }

  async #try(value: unknown): Promise<void> {
    if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'sql') {
      this.told = { fault: 'definition.kind: write SQL under “Add”, “SQL chart”.' };
      return;
    }
    await this.#ask(value as MetricDefinition);
    if (this.told === undefined || 'fault' in this.told) return;
    const draft = draftOf(wholeOf(value as Parameters<typeof wholeOf>[0]));
    const definition = definitionOf(draft);
    this.#typedJson = definition === undefined ? undefined : JSON.stringify(wholeOf(definition));
    this.#propose(draft);
  }

  /** Asks for the statement only where it is shown. */
  async #ask(definition: MetricDefinition | undefined): Promise<void> {
    this.#asking.cancel();
    this.told = undefined;
    if (definition === undefined || (this.tab !== 'sql' && this.tab !== 'definition')) return;
    const { dashboardId, view, api } = this;
    await this.#asking.run(
      (signal) => describeAuthored(api, { view: view.token, dashboardId, definition }, signal),
      ({ sql }) => {
        this.told = { sql };
      },
      (error) => {
        this.told = { fault: textOf(error) };
      },
    );
  }

  #ended(): void {
    this.dispatchEvent(new CustomEvent('view-ended'));
  }
}

/** What may stand in a definition. */
const words = [
  ...['kind', 'chart', 'type', 'from', 'schemaName', 'tableName', 'columnName', 'dimensions', 'measures', 'name'],
  ...['column', 'grain', 'bucketWidth', 'bucketCount', 'aggregate', 'percentile', 'indicator', 'expression', 'where'],
  ...['having', 'all', 'any', 'measure', 'predicate', 'values', 'operator', 'value', 'pattern', 'to', 'toIsExclusive'],
  ...['calculations', 'of', 'along', 'within', 'periods', 'result', 'comparison', 'filters', 'label', 'dataType'],
  ...['defaultValue', 'rlsVariables', 'isOptional', 'underlying', 'drillPath', 'sort', 'direction', 'limit'],
].map((label) => ({ label, detail: 'field' }));

customElements.define('studio-metric-editor', MetricEditor);
