/** A dialog with a guest's own reports and alerts of a dashboard: the list, the form and the history. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import type { Audience } from '../../model/schedule/recipients.js';
import { type FilterValues, type GuestClient, isRecord } from '../base/client.js';
import { dialogStyles, dialogView, showDialog } from '../base/dialog.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import {
  createGuestSchedule,
  deleteGuestSchedule,
  listGuestChannels,
  listGuestDeliveries,
  listGuestRecipients,
  listGuestSchedules,
  previewGuestSchedule,
  sendGuestSchedule,
  updateGuestSchedule,
} from '../base/guest-operations.js';
import { createLatest } from '../base/latest.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles } from '../base/theme.js';
import { type FilterLabels, filterNotes } from '../filters/filter-values.js';
import type { Channel, SentDelivery, SentSchedule } from './schedule-draft.js';
import type { PreviewSchedule, SaveSchedule } from './schedule-form.js';
import {
  alertName,
  formatName,
  momentName,
  outlookName,
  reasonName,
  recipientName,
  recipientsName,
  recurrenceName,
  stateName,
} from './schedule-words.js';

type Place =
  | { readonly at: 'list' }
  | { readonly at: 'form'; readonly isAlert: boolean; readonly schedule?: SentSchedule }
  | { readonly at: 'history'; readonly schedule: SentSchedule };

const audienceIn = (data: Audience | null): Audience | null =>
  isRecord(data) && [data.users, data.roles, data.domains].every(Array.isArray) ? data : null;

/** Deliveries of one moment together, in their order. */
const byMoment = (deliveries: readonly SentDelivery[]): readonly (readonly [string, readonly SentDelivery[]])[] => {
  const found = new Map<string, SentDelivery[]>();
  for (const each of deliveries) {
    const some = found.get(each.moment) ?? [];
    some.push(each);
    found.set(each.moment, some);
  }
  return [...found];
};

const recordsIn = <T>(data: readonly T[], field: keyof T): readonly T[] =>
  Array.isArray(data) ? data.filter((each) => isRecord(each) && field in each) : [];

export class SchedulesPanel extends LitElement {
  static override properties = {
    format: { attribute: false },
    dashboard: { attribute: false },
    dashboardId: { attribute: false },
    filters: { attribute: false },
    labels: { attribute: false },
    client: { attribute: false },
    isOpen: { state: true },
    place: { state: true },
    schedules: { state: true },
    channels: { state: true },
    audience: { state: true },
    deliveries: { state: true },
    asked: { state: true },
    problem: { state: true },
    note: { state: true },
  };
  declare format: Format;
  declare dashboard: Pick<GuestDashboard, 'metrics' | 'filters' | 'scheduleFormats'>;
  declare dashboardId: string;
  /** The filters that are set on the dashboard now. */
  declare filters: FilterValues;
  declare labels: FilterLabels;
  declare client: GuestClient;
  declare isOpen: boolean;
  declare place: Place;
  declare schedules: readonly SentSchedule[] | undefined;
  declare channels: readonly Channel[];
  /** Whom the guest may send the dashboard to; null: nobody else. */
  declare audience: Audience | null;
  declare deliveries: readonly SentDelivery[] | undefined;
  /** The schedule whose deletion is to be confirmed. */
  declare asked: string | undefined;
  declare problem: string | undefined;
  declare note: string;

  readonly #latest = createLatest();
  #isBusy = false;

  constructor() {
    super();
    this.isOpen = false;
    this.place = { at: 'list' };
    this.channels = [];
    this.audience = null;
    this.filters = {};
    this.labels = new Map();
    this.note = '';
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
        scroll-padding-block: 60px 16px;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 6px;
        margin-top: 4px;
      }
      header {
        position: sticky;
        z-index: 1;
        top: -16px;
        margin: -16px -18px 4px;
        padding: 16px 18px 8px;
        background: var(--gl-surface);
      }
      h3 {
        margin: 0;
        font-size: 14px;
        font-weight: 600;
      }
      ul {
        margin: 12px 0;
        padding: 0;
        list-style: none;
      }
      li {
        display: grid;
        gap: 4px;
        padding: 12px 0;
        border-top: 1px solid var(--gl-border);
        overflow-wrap: anywhere;
      }
      p {
        margin: 0;
        font-size: 13px;
      }
      .breached,
      .problem {
        color: var(--gl-danger);
        font-weight: 600;
      }
      .body {
        min-height: 140px;
      }
      .skeleton {
        height: 140px;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  /** Opens the dialog with the list. */
  open(): void {
    this.isOpen = true;
    this.schedules = undefined;
    this.#show({ at: 'list' });
    void showDialog(this);
    this.#read();
  }

  override render(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    const { text } = this.format;
    const content = html`<p class="problem" role="alert" ?hidden=${this.problem === undefined || this.#isFailed}>${this.problem}</p>
      <p class="quiet" role="status">${this.note}</p>
      ${this.#body()}`;
    const actions = this.place.at === 'history' ? this.#button(text('Back'), '', this.#toList) : nothing;
    return dialogView({
      ...{ text, title: this.#title(), content, actions, closed: this.#closed },
      isTitleFocusable: true,
    });
  }

  /** Whether there is nothing to show but the problem. */
  get #isFailed(): boolean {
    const { at } = this.place;
    return this.problem !== undefined && (at === 'list' ? this.schedules : this.deliveries) === undefined;
  }

  #title(): string {
    const { text } = this.format;
    const { place } = this;
    if (place.at === 'history') return text('History of {name}', { name: place.schedule.name });
    if (place.at === 'list') return text('Reports and alerts');
    if (place.schedule !== undefined) return text('Change {name}', { name: place.schedule.name });
    return place.isAlert ? text('New alert') : text('New report');
  }

  #body(): TemplateResult {
    const { place } = this;
    const { text } = this.format;
    if (place.at === 'form') return this.#form(place);
    if (this.#isFailed) {
      const retry = () => (place.at === 'list' ? this.#read() : this.#readHistory(place.schedule));
      return errorState(text, text('The list can’t be shown'), this.problem ?? '', retry);
    }
    const content = place.at === 'list' ? this.#list() : this.#history();
    return html`<div class="body">${content}</div>`;
  }

  #list(): TemplateResult {
    const { text } = this.format;
    const { schedules } = this;
    if (schedules === undefined) return loadingState(text('Loading'));
    const formats = this.dashboard.scheduleFormats ?? [];
    const hasReports = formats.some((format) => format !== 'alert');
    const hasAlerts = formats.includes('alert') && this.dashboard.metrics.length > 0;
    const anew = (isAlert: boolean) => () => this.#show({ at: 'form', isAlert });
    return html`<div class="actions">
        ${hasReports ? this.#button(text('New report'), '', anew(false)) : nothing}
        ${hasAlerts ? this.#button(text('New alert'), '', anew(true)) : nothing}
      </div>
      ${
        schedules.length === 0
          ? emptyState(text('There are no reports or alerts yet'))
          : html`<ul>${repeat(
              schedules,
              ({ id }) => id,
              (each) => this.#item(each),
            )}</ul>`
      }`;
  }

  #item(schedule: SentSchedule): TemplateResult {
    const { format } = this;
    const { text } = format;
    const { name, recurrence, alert, channel, recipients, unconfirmed, status } = schedule;
    const what = alert === null ? formatName(schedule.format, text) : alertName(alert, this.dashboard.metrics, format);
    const filters = Object.keys(schedule.dashboardFilter).length === 0 ? [] : this.#notesOf(schedule.dashboardFilter);
    const parts = [what, ...filters, recurrenceName(recurrence, format), ...(channel === null ? [] : [channel])];
    return html`<li>
      <h3>${name}</h3>
      <p class="quiet">${parts.join(' · ')}</p>
      ${recipients === null ? nothing : html`<p class="quiet">${recipientsName(recipients, unconfirmed, this.audience, format)}</p>`}
      <p>${outlookName(schedule, new Date(), format)}</p>
      ${status?.isBreached === true ? html`<p class="breached">${text('The alert holds since {moment}', { moment: momentName(status.since, format) })}</p>` : nothing}
      ${this.asked === schedule.id ? this.#confirmation(schedule) : this.#actions(schedule)}
    </li>`;
  }

  #actions(schedule: SentSchedule): TemplateResult {
    const { text } = this.format;
    const { id, name, isPaused, alert } = schedule;
    const { client } = this;
    const named = this.#named(schedule);
    const pause = () =>
      this.#write((signal) => client.call(updateGuestSchedule, { ...named, isPaused: !isPaused }, signal));
    const sent = () => {
      this.note = text('It is on its way. The history tells what became of it.');
    };
    const send = () => this.#write((signal) => client.call(sendGuestSchedule, named, signal), sent);
    return html`<div class="actions">
      ${this.#button(text('Change'), name, () => this.#show({ at: 'form', isAlert: alert !== null, schedule }))}
      ${this.#button(isPaused ? text('Resume') : text('Pause'), name, pause)}
      ${this.#button(alert === null ? text('Send now') : text('Check now'), name, send)}
      ${this.#button(text('History'), name, () => this.#readHistory(schedule))}
      ${this.#button(text('Delete'), name, () => this.#ask(id))}
    </div>`;
  }

  #confirmation(schedule: SentSchedule): TemplateResult {
    const { text } = this.format;
    const { name } = schedule;
    const remove = () =>
      this.#write(
        (signal) => this.client.call(deleteGuestSchedule, this.#named(schedule), signal),
        () => this.#ask(undefined),
      );
    return html`<p id="question">${text('Delete it with its history?')}</p>
      <div class="actions" role="group" aria-labelledby="question">
        ${this.#button(text('Cancel'), name, () => this.#ask(undefined), 'refuse')}
        ${this.#button(text('Delete'), name, remove)}
      </div>`;
  }

  /** `name`: what the button is about, for readers who hear it without its place. */
  #button(label: string, name: string, run: () => void, kind = ''): TemplateResult {
    return html`<button class="button ${kind}" part="button" type="button" @click=${run}>${label}${
      name === '' ? nothing : html`<span class="sr">${name}</span>`
    }</button>`;
  }

  #form({ isAlert, schedule }: Place & { readonly at: 'form' }): TemplateResult {
    return html`<guestlist-schedule-form
      .format=${this.format}
      .metrics=${this.dashboard.metrics}
      .formats=${this.dashboard.scheduleFormats ?? []}
      .channels=${this.channels}
      .audience=${this.audience}
      .filters=${this.filters}
      .notesOf=${this.#notesOf}
      .schedule=${schedule}
      .isAlert=${isAlert}
      .save=${this.#saver(schedule)}
      .preview=${this.#preview}
      @end=${this.#toList}
    ></guestlist-schedule-form>`;
  }

  #history(): TemplateResult {
    const { text } = this.format;
    const { deliveries, place } = this;
    if (deliveries === undefined || place.at !== 'history') return loadingState(text('Loading'));
    const isShared =
      place.schedule.recipients !== null || new Set(deliveries.map(({ recipient }) => recipient)).size > 1;
    return html`<div class="actions">${this.#button(text('Read again'), '', () => this.#readHistory(place.schedule))}</div>
      ${deliveries.length === 0 ? emptyState(text('Nothing was sent yet')) : html`<ul>${byMoment(deliveries).map(([moment, some]) => this.#moment(moment, some, isShared))}</ul>`}`;
  }

  #moment(moment: string, deliveries: readonly SentDelivery[], isShared: boolean): TemplateResult {
    const { format } = this;
    return html`<li>
      <h3>${momentName(moment, format)}</h3>
      ${deliveries.map((each) => html`<p>${this.#delivery(each, isShared)}</p>`)}
    </li>`;
  }

  #delivery(delivery: SentDelivery, isShared: boolean): string {
    const { text } = this.format;
    const { state, reason, isRequested } = delivery;
    const name = isShared ? recipientName(delivery, this.audience, this.format) : '';
    const parts = [
      stateName(state, text),
      ...(reason === null ? [] : [reasonName(reason, text)]),
      ...(isRequested ? [text('Asked for')] : []),
    ];
    const value = parts.join(' · ');
    return name === '' ? value : text('{name}: {value}', { name, value });
  }

  #show(place: Place): void {
    const hasMoved = this.place.at !== place.at;
    this.place = place;
    this.problem = undefined;
    this.note = '';
    this.asked = undefined;
    if (hasMoved && place.at !== 'form') this.#focus('#title');
  }

  #focus(selector: string): void {
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(selector)?.focus());
  }

  readonly #toList = (): void => {
    this.#show({ at: 'list' });
    this.#read();
  };

  #ask(id: string | undefined): void {
    this.asked = id;
    this.#focus(id === undefined ? '#title' : '.refuse');
  }

  readonly #closed = (): void => {
    this.#latest.cancel();
    this.#isBusy = false;
    this.isOpen = false;
  };

  #named({ id }: SentSchedule) {
    return { dashboardId: this.dashboardId, scheduleId: id };
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    const { client, dashboardId } = this;
    const [schedules, channels, audience] = await Promise.all([
      client.call(listGuestSchedules, { dashboardId }, signal),
      client.call(listGuestChannels, { dashboardId }, signal),
      client.call(listGuestRecipients, { dashboardId }, signal),
    ]);
    this.schedules = recordsIn(schedules, 'recurrence');
    this.channels = recordsIn(channels, 'name');
    this.audience = audienceIn(audience);
  }

  #read(): void {
    this.#run((signal) => this.#readAll(signal));
  }

  #readHistory(schedule: SentSchedule): void {
    if (this.place.at !== 'history') this.deliveries = undefined;
    this.#show({ at: 'history', schedule });
    this.#run(async (signal) => {
      const found = await this.client.call(listGuestDeliveries, this.#named(schedule), signal);
      this.deliveries = recordsIn(found, 'moment');
    });
  }

  readonly #notesOf = (filters: FilterValues): readonly string[] =>
    filterNotes(this.dashboard.filters, filters, this.format, this.labels);

  readonly #saver =
    (schedule: SentSchedule | undefined): SaveSchedule =>
    async (plan, signal) => {
      const { client, dashboardId } = this;
      if (schedule === undefined) await client.call(createGuestSchedule, { ...plan, dashboardId }, signal);
      else await client.call(updateGuestSchedule, { ...plan, ...this.#named(schedule) }, signal);
    };

  readonly #preview: PreviewSchedule = (plan, signal) =>
    this.client.call(previewGuestSchedule, { ...plan, dashboardId: this.dashboardId }, signal);

  /** Writes, and reads the list again. */
  #write(work: (signal: AbortSignal) => Promise<unknown>, done?: () => void): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.note = '';
    this.#run(async (signal) => {
      await work(signal);
      await this.#readAll(signal);
      done?.();
    });
  }

  #run(work: (signal: AbortSignal) => Promise<void>): void {
    this.problem = undefined;
    void this.#latest.run(
      work,
      () => {
        this.#isBusy = false;
      },
      (error) => {
        this.#isBusy = false;
        this.problem = failureText(error, this.format.text);
      },
    );
  }
}
