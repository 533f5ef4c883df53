/** The metrics that a guest may change, with what the token lets the guest do with each. */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { OwnMetric } from '../../model/guest/metric.js';
import type { GuestClient } from '../base/client.js';
import type { Format } from '../base/format.js';
import {
  archiveGuestMetric,
  deleteGuestMetric,
  getGuestMetricDefinition,
  listGuestMetrics,
  publishGuestMetric,
  updateGuestMetric,
} from '../base/guest-operations.js';
import { closeIcon, editIcon, icon, peopleIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import type { OperationAnswer } from '../base/operations.js';
import { baseStyles } from '../base/theme.js';
import { draftOf, wholeOf } from './draft.js';
import type { InitialMetric, SaveMetric } from './panel.js';

/** An own metric that the editor shows. */
export type Opened = {
  readonly metricId: string;
  readonly initial: InitialMetric;
  /** Refused if somebody else changed the metric since it was read. */
  readonly save: SaveMetric;
};

/** Returns the metric as the editor begins with it. */
const openedOf = (
  client: GuestClient,
  { metricId, name, definition, digest }: OperationAnswer<'getGuestMetricDefinition'>['data'],
): Opened => {
  const { chart, from, ...parts } = definition;
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  const draft = draftOf(wholeOf({ chart, from, ...given }));
  const save: SaveMetric = (next, signal) =>
    client.call(updateGuestMetric, { metricId, name: next.name, definition: next.definition, digest }, signal);
  return { metricId, initial: { name, draft }, save };
};

type OwnAction = 'edit' | 'archive' | 'restore' | 'delete' | 'publish' | 'unpublish';
/** The actions that the token allows. */
export type OwnActions = Readonly<Record<'canEdit' | 'canArchive' | 'canRestore' | 'canPublish', boolean>>;

const act = async (
  { call }: GuestClient,
  action: Exclude<OwnAction, 'edit'>,
  metricId: string,
  signal: AbortSignal,
): Promise<void> => {
  if (action === 'delete') await call(deleteGuestMetric, { metricId }, signal);
  else if (action === 'archive' || action === 'restore')
    await call(archiveGuestMetric, { metricId, isArchived: action === 'archive' }, signal);
  else await call(publishGuestMetric, { metricId, isPublished: action === 'publish' }, signal);
};

const archiveIcon = icon('M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.5h3');
const restoreIcon = icon('M3 3v3.5h3.5M3.3 6.5A5 5 0 1 1 3 9.5');

export class OwnMetrics extends LitElement {
  static override properties = {
    client: { attribute: false },
    dashboardId: { attribute: false },
    actions: { attribute: false },
    format: { attribute: false },
    metrics: { state: true },
    textOf: { attribute: false },
    asked: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  declare client: GuestClient;
  declare dashboardId: string;
  declare metrics: readonly OwnMetric[];
  declare actions: OwnActions;
  declare format: Format;
  declare textOf: (error: unknown) => string;
  /** The metric whose deletion is to be confirmed. */
  declare asked: string | undefined;
  declare problem: string | undefined;
  declare isBusy: boolean;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.isBusy = false;
    this.metrics = [];
  }

  static override styles = [
    baseStyles,
    css`
      section {
        margin-bottom: 16px;
        padding: 12px 14px;
        border: 1px solid var(--gl-border);
        border-radius: var(--gl-radius);
        background: var(--gl-surface);
        font-size: 13px;
      }
      h2 {
        margin: 0;
        font-size: 12.5px;
        font-weight: 600;
      }
      ul {
        margin: 6px 0 0;
        padding: 0;
        list-style: none;
      }
      li {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        align-items: center;
        min-height: 34px;
      }
      .name {
        flex: 1;
        min-width: 120px;
        overflow-wrap: anywhere;
      }
      p {
        margin: 6px 0 0;
        color: var(--gl-danger);
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  protected override willUpdate(changes: PropertyValues<this>): void {
    if (changes.has('client') || changes.has('dashboardId')) this.refresh();
  }

  /** Lists the metrics again. */
  refresh(): void {
    this.#send((signal) => this.#list(signal));
  }

  override render(): TemplateResult | typeof nothing {
    if (this.metrics.length === 0 && this.problem === undefined) return nothing;
    return html`<section aria-labelledby="own">
      <h2 id="own">${this.format.text('Own charts')}</h2>
      <ul>${this.metrics.map((metric) => this.#row(metric))}</ul>
      ${this.problem === undefined ? nothing : html`<p role="alert">${this.problem}</p>`}
    </section>`;
  }

  #row(metric: OwnMetric): TemplateResult {
    const { text } = this.format;
    const { name, isArchived, isPrivate } = metric;
    const note = [isArchived ? text('Archived') : '', isPrivate ? text('Private') : ''].filter((one) => one !== '');
    return html`<li>
      <span class="name">${name} <span class="quiet">${note.join(' · ')}</span></span>
      ${this.asked === metric.metricId ? this.#confirmation(metric) : this.#actions(metric)}
    </li>`;
  }

  #actions(metric: OwnMetric): TemplateResult {
    const { text } = this.format;
    const { name, isArchived, isPrivate, canPublish } = metric;
    const { canEdit, canArchive, canRestore, canPublish: mayPublish } = this.actions;
    const tool = (isOffered: boolean, label: string, of: TemplateResult, run: () => void) =>
      isOffered
        ? html`<button class="icon" part="icon-button" type="button" aria-label=${label} title=${label}
            ?disabled=${this.isBusy} @click=${run}>${of}</button>`
        : nothing;
    const does = (action: OwnAction) => () => this.#do(action, metric);
    const publish = isPrivate ? text('Publish {name}', { name }) : text('Make {name} private', { name });
    return html`${tool(canEdit && !isArchived, text('Edit {name}', { name }), editIcon, does('edit'))}
      ${tool(mayPublish && canPublish, publish, peopleIcon, does(isPrivate ? 'publish' : 'unpublish'))}
      ${tool(canArchive && !isArchived, text('Archive {name}', { name }), archiveIcon, does('archive'))}
      ${tool(canRestore && isArchived, text('Restore {name}', { name }), restoreIcon, does('restore'))}
      ${tool(canArchive, text('Delete {name}', { name }), closeIcon, () => {
        this.asked = metric.metricId;
      })}`;
  }

  #confirmation(metric: OwnMetric): TemplateResult {
    const { text } = this.format;
    const cancel = () => {
      this.asked = undefined;
    };
    return html`<button class="button" part="button" type="button" ?disabled=${this.isBusy}
        @click=${() => this.#do('delete', metric)}>${text('Delete for good')}</button>
      <button class="button" part="button" type="button" @click=${cancel}>${text('Cancel')}</button>`;
  }

  async #list(signal: AbortSignal): Promise<readonly OwnMetric[]> {
    const data = await this.client.call(listGuestMetrics, { dashboardId: this.dashboardId }, signal);
    return Array.isArray(data) ? data : [];
  }

  #do(action: OwnAction, { metricId, name }: OwnMetric): void {
    if (action === 'edit') {
      this.#edit(metricId);
      return;
    }
    const { client, dashboardId } = this;
    this.#send(async (signal) => {
      await act(client, action, metricId, signal);
      const metrics = await this.#list(signal);
      const detail = { dashboardId, metricId, name };
      this.dispatchEvent(new CustomEvent<string>('done', { detail: metricId }));
      this.dispatchEvent(new CustomEvent('guestlist-saved', { detail, bubbles: true, composed: true }));
      return metrics;
    });
  }

  #edit(metricId: string): void {
    const { client } = this;
    this.#send(async (signal) => {
      const data = await client.call(getGuestMetricDefinition, { metricId }, signal);
      this.dispatchEvent(new CustomEvent<Opened>('open', { detail: openedOf(client, data) }));
      return this.metrics;
    });
  }

  #send(work: (signal: AbortSignal) => Promise<readonly OwnMetric[]>): void {
    this.isBusy = true;
    this.problem = undefined;
    void this.#latest.run(
      work,
      (metrics) => {
        this.isBusy = false;
        this.asked = undefined;
        this.metrics = metrics;
      },
      (error) => {
        this.isBusy = false;
        this.asked = undefined;
        this.problem = this.textOf(error);
      },
    );
  }
}
