/** A dialog in which a guest asks for a chart in words, refines it, and saves it. Earlier questions are kept in the page only. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Suggestion } from '../../model/chat/suggestions.js';
import type { NewGuestDefinition } from '../../model/guest/metric.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import type { FilterValues, GuestClient } from '../base/client.js';
import { dialogStyles, dialogView, showDialog } from '../base/dialog.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { chatOnGuestDashboard, createGuestMetric, listGuestSuggestions } from '../base/guest-operations.js';
import { createLatest } from '../base/latest.js';
import { options } from '../base/options.js';
import { exported } from '../base/parts.js';
import { stateStyles } from '../base/states.js';
import { baseStyles } from '../base/theme.js';
import { definitionWords } from '../editor/definition-words.js';
import { type FilterLabels, filterNotes } from '../filters/filter-values.js';
import {
  answerIn,
  chatProblem,
  greatestQuestion,
  metricOf,
  sentTurns,
  suggestionName,
  suggestionsIn,
  type Turn,
} from './chat-turn.js';

type Metric = { readonly name: string; readonly definition: NewGuestDefinition };

export class ChatPanel extends LitElement {
  static override properties = {
    view: { attribute: false },
    dashboard: { attribute: false },
    dashboardId: { attribute: false },
    llmNames: { attribute: false },
    hasSuggestions: { attribute: false },
    filters: { attribute: false },
    labels: { attribute: false },
    client: { attribute: false },
    isOpen: { state: true },
    turns: { state: true },
    llmName: { state: true },
    isBusy: { state: true },
    suggestions: { state: true },
  };
  /** How cards look, with the format. */
  declare view: { readonly format: Format };
  declare dashboard: Pick<GuestDashboard, 'filters'>;
  declare dashboardId: string;
  declare llmNames: readonly string[];
  declare hasSuggestions: boolean;
  /** The filters that are set on the dashboard now. */
  declare filters: FilterValues;
  declare labels: FilterLabels;
  declare client: GuestClient;
  declare isOpen: boolean;
  declare turns: readonly Turn[];
  declare llmName: string | undefined;
  declare isBusy: boolean;
  declare suggestions: readonly Suggestion[];

  readonly #asking = createLatest();
  readonly #saving = createLatest();
  readonly #suggesting = createLatest();
  #asked = 0;

  constructor() {
    super();
    this.isOpen = false;
    this.turns = [];
    this.suggestions = [];
    this.isBusy = false;
  }

  static override styles = [
    baseStyles,
    dialogStyles,
    stateStyles,
    css`
      :host {
        position: absolute;
      }
      dialog {
        width: min(760px, calc(100vw - 24px));
        height: min(820px, 94vh);
        max-height: none;
      }
      dialog[open] {
        display: flex;
        flex-direction: column;
        gap: 12px;
      }
      select {
        max-width: 40%;
      }
      .talk {
        display: flex;
        flex: 1;
        flex-direction: column;
        gap: 14px;
        min-height: 0;
        margin-inline: -18px;
        padding: 2px 18px;
        overflow-y: auto;
      }
      .talk:focus-visible {
        outline: 2px solid var(--gl-focus);
        outline-offset: -2px;
      }
      .question {
        align-self: end;
        max-width: 85%;
        margin: 0;
        padding: 8px 12px;
        border-radius: 12px;
        border-end-end-radius: 4px;
        background: var(--gl-subtle);
        font-size: 14px;
        overflow-wrap: anywhere;
        white-space: pre-line;
      }
      .answer {
        display: grid;
        gap: 8px;
        min-width: 0;
      }
      p {
        margin: 0;
        font-size: 13.5px;
        overflow-wrap: anywhere;
      }
      .problem {
        color: var(--gl-danger);
        font-weight: 600;
      }
      guestlist-card {
        --card-height: 300px;
        height: 300px;
        min-width: 0;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 14px;
        margin: 0;
        padding: 0;
        list-style: none;
        font-size: 12.5px;
        overflow-wrap: anywhere;
      }
      .actions,
      form {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
      }
      form {
        flex-wrap: nowrap;
        align-items: end;
      }
      textarea {
        flex: 1;
        box-sizing: border-box;
        min-width: 0;
        min-height: 44px;
        max-height: 30vh;
        padding: 10px 12px;
        border: 1px solid var(--gl-border-strong, var(--gl-border));
        border-radius: 10px;
        background: var(--gl-surface);
        color: inherit;
        font: inherit;
        field-sizing: content;
        resize: none;
      }
      .main {
        border-color: var(--gl-accent);
      }
      .wait {
        height: 40px;
      }
      .hint {
        display: grid;
        gap: 14px;
        max-width: 56ch;
        margin: auto;
        text-align: center;
      }
      .hint .actions {
        justify-content: center;
      }
      .small {
        font-size: 12px;
      }
      @media (max-width: 600px) {
        dialog {
          padding: 12px 14px;
        }
        .talk {
          margin-inline: -14px;
          padding-inline: 14px;
        }
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#asking.cancel();
    this.#saving.cancel();
    this.#suggesting.cancel();
  }

  /** Opens the dialog with what was asked before. */
  open(): void {
    this.isOpen = true;
    if (this.hasSuggestions && this.suggestions.length === 0) this.#suggest();
    void showDialog(this).then(() => this.renderRoot.querySelector('textarea')?.focus());
  }

  override render(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    const { text } = this.view.format;
    const content = html`<div class="talk" role="log" aria-label=${text('Questions and answers')} tabindex="0">
        ${this.turns.length === 0 ? this.#start() : nothing}
        ${repeat(
          this.turns,
          ({ id }) => id,
          (turn) => this.#turn(turn),
        )}
      </div>
      ${this.#form()}
      <p class="quiet small">${text('The assistant can be wrong. Check how a chart was made.')}</p>`;
    const actions = this.llmNames.length > 1 ? this.#models() : nothing;
    return dialogView({ text, title: text('Ask a question'), content, actions, closed: this.#closed });
  }

  #start(): TemplateResult {
    const { format } = this.view;
    return html`<div class="hint">
      <p class="quiet">${format.text('Ask in your own words. The answer is a chart of your data.')}</p>
      <div class="actions">${this.suggestions.map((suggestion) => {
        const name = suggestionName(suggestion, format);
        return html`<button class="button" part="button" type="button" @click=${() => this.#take(suggestion, name)}>${name}</button>`;
      })}</div>
    </div>`;
  }

  /** Without suggestions the dialog is complete too, so a failure is not told. */
  #suggest(): void {
    void this.#suggesting.run(
      (signal) => this.client.call(listGuestSuggestions, { dashboardId: this.dashboardId }, signal),
      (data) => {
        this.suggestions = suggestionsIn(data);
      },
      (error) => console.warn('guestlist: no suggestions came', error),
    );
  }

  /** A suggestion is an answer at once. */
  #take({ definition, labels }: Suggestion, name: string): void {
    const { filters } = this;
    const id = ++this.#asked;
    const answer = { text: null, metric: { name, definition }, labels, llmName: '' };
    this.turns = [...this.turns, { id, question: name, filters, answer }];
    this.#toEnd();
    this.renderRoot.querySelector('textarea')?.focus();
  }

  #models(): TemplateResult {
    const { text } = this.view.format;
    const now = this.llmName ?? this.llmNames[0];
    const choices = this.llmNames.map((name) => [name, name] as const);
    const choose = (event: Event) => {
      this.llmName = (event.target as HTMLSelectElement).value;
    };
    return html`<select part="input" aria-label=${text('Assistant')} @change=${choose}>
      ${options(choices, now)}
    </select>`;
  }

  #form(): TemplateResult {
    const { text } = this.view.format;
    return html`<form @submit=${this.#submit}>
      <textarea rows="1" part="input" aria-label=${text('Your question')} placeholder=${text('Your question')}
        maxlength=${greatestQuestion} @keydown=${this.#keys}></textarea>
      ${
        this.isBusy
          ? html`<button class="button" part="button" type="button" @click=${this.#cancel}>${text('Cancel')}</button>`
          : html`<button class="button main" part="button">${text('Ask')}</button>`
      }
    </form>`;
  }

  #turn(turn: Turn): TemplateResult {
    const { text } = this.view.format;
    const { question, answer, problem } = turn;
    const isWaiting = answer === undefined && problem === undefined;
    return html`<p class="question" dir="auto">${question}</p>
      <div class="answer">
        ${isWaiting ? html`<div class="skeleton wait"></div><p class="quiet" role="status">${text('Looking for an answer')}</p>` : nothing}
        ${problem === undefined ? nothing : this.#problem(turn, problem)}
        ${answer?.text == null ? nothing : html`<p dir="auto">${answer.text}</p>`}
        ${answer === undefined ? nothing : answer.metric === null ? this.#without(answer.text) : this.#metric(turn, answer.metric)}
      </div>`;
  }

  #problem({ question }: Turn, problem: string): TemplateResult {
    const { text } = this.view.format;
    return html`<p class="problem" role="alert">${problem}</p>
      <div class="actions"><button class="button" part="button" type="button" ?disabled=${this.isBusy}
        @click=${() => this.#ask(question)}>${text('Try again')}</button></div>`;
  }

  #without(said: string | null): TemplateResult | typeof nothing {
    if (said !== null) return nothing;
    return html`<p>${this.view.format.text('The assistant found no answer. Ask a simpler question, or in other words.')}</p>`;
  }

  #metric(turn: Turn, metric: Metric): TemplateResult {
    const { format } = this.view;
    const source = { client: this.#clientOf(metric), dashboardId: this.dashboardId, dashboardFilter: turn.filters };
    const notes = filterNotes(this.dashboard.filters, turn.filters, format, this.labels);
    const filters = notes.length === 0 ? [format.text('No filters set')] : notes;
    const words = definitionWords(metric.definition, turn.answer?.labels ?? [], format);
    return html`<guestlist-card exportparts=${exported} .metric=${this.#shown(turn.id, metric)} .source=${this.#kept(turn.id, source)}
        .view=${this.view} .notes=${notes} .onFailure=${() => false}></guestlist-card>
      <ul aria-label=${format.text('How this chart was made')}>${words.map((word) => html`<li>${word}</li>`)}</ul>
      <ul class="quiet" aria-label=${format.text('Filters')}>${filters.map((filter) => html`<li>${filter}</li>`)}</ul>
      ${this.#save(turn, metric)}`;
  }

  #save({ id, saved, unsaved }: Turn, metric: Metric): TemplateResult {
    const { text } = this.view.format;
    if (saved === 'saved') return html`<p class="quiet" role="status">${text('Saved')}</p>`;
    return html`<div class="actions">
      <button class="button" part="button" type="button" ?disabled=${saved === 'saving'}
        @click=${() => this.#store(id, metric)}>${text('Save')}<span class="sr">${metric.name}</span></button>
      ${unsaved === undefined ? nothing : html`<p class="problem" role="alert">${unsaved}</p>`}
    </div>`;
  }

  /** A card asks again when its metric or its source is another object, so each turn keeps its own. */
  readonly #cards = new Map<number, { metric?: object; source?: object }>();

  #shown(id: number, { name, definition }: Metric) {
    const card = this.#cards.get(id) ?? {};
    card.metric ??= metricOf(id, name, definition);
    this.#cards.set(id, card);
    return card.metric;
  }

  #kept(id: number, source: object): object {
    const card = this.#cards.get(id) ?? {};
    card.source ??= source;
    this.#cards.set(id, card);
    return card.source;
  }

  /** Reads the metric, which nobody saved, as the guest. */
  #clientOf({ definition }: Metric): GuestClient {
    const { dashboardId } = this;
    const own = (): GuestClient => this.client;
    return {
      ...this.client,
      query: (_, { dashboardFilter, sort, limit, offset }, signal) =>
        own().preview({ dashboardId, definition, dashboardFilter, sort, limit, offset }, signal),
    };
  }

  #change(id: number, parts: Partial<Turn>): void {
    this.turns = this.turns.map((turn) => (turn.id === id ? { ...turn, ...parts } : turn));
  }

  readonly #submit = (event: Event): void => {
    event.preventDefault();
    const field = this.renderRoot.querySelector('textarea');
    const question = field?.value.trim() ?? '';
    if (field === null || question === '' || this.isBusy) return;
    field.value = '';
    this.#ask(question);
  };

  readonly #keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    this.#submit(event);
  };

  #ask(question: string): void {
    const { filters, llmName, dashboardId } = this;
    const id = ++this.#asked;
    const input = { dashboardId, question, turns: sentTurns(this.turns), dashboardFilter: filters, llmName };
    this.turns = [...this.turns.filter(({ problem }) => problem === undefined), { id, question, filters }];
    this.isBusy = true;
    this.#toEnd();
    void this.#asking.run(
      (signal) => this.client.call(chatOnGuestDashboard, input, signal),
      (data) => {
        const answer = answerIn(data);
        const problem = this.view.format.text('The service’s answer can’t be read.');
        this.#ended(id, answer === undefined ? { problem } : { answer });
      },
      (error) => this.#ended(id, { problem: chatProblem(error, this.view.format.text) }),
    );
  }

  #ended(id: number, parts: Partial<Turn>): void {
    this.isBusy = false;
    this.#change(id, parts);
    this.#toEnd();
  }

  /** The latest question is seen. */
  #toEnd(): void {
    void this.updateComplete.then(() => {
      this.renderRoot.querySelector('.question:last-of-type')?.scrollIntoView({ block: 'start' });
    });
  }

  /** The question goes back to where it can be changed. */
  readonly #cancel = (): void => {
    this.#asking.cancel();
    this.isBusy = false;
    const last = this.turns.at(-1);
    if (last === undefined || last.answer !== undefined) return;
    this.turns = this.turns.slice(0, -1);
    const field = this.renderRoot.querySelector('textarea');
    if (field === null) return;
    if (field.value === '') field.value = last.question;
    field.focus();
  };

  #store(id: number, { name, definition }: Metric): void {
    const { dashboardId } = this;
    this.#change(id, { saved: 'saving', unsaved: undefined });
    void this.#saving.run(
      (signal) => this.client.call(createGuestMetric, { dashboardId, name, definition }, signal),
      ({ metricId }) => {
        this.#change(id, { saved: 'saved' });
        const detail = { dashboardId, metricId, name };
        this.dispatchEvent(new CustomEvent('guestlist-saved', { detail, bubbles: true, composed: true }));
      },
      (error) => this.#change(id, { saved: undefined, unsaved: failureText(error, this.view.format.text) }),
    );
  }

  readonly #closed = (): void => {
    if (this.isBusy) this.#cancel();
    this.isOpen = false;
  };
}
