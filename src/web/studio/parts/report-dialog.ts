/** A dialog that asks for a report to all tenants: what, to whom and when. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Alert } from '../../../model/schedule/alert.js';
import type { Recurrence } from '../../../model/schedule/recurrence.js';
import { createFormat } from '../../base/format.js';
import { options } from '../../base/options.js';
import {
  allConditions,
  type Card,
  changed,
  type Draft,
  draftOf,
  type Faults,
  fitted,
  forgiven,
  newDraft,
  takesContent,
} from '../../elements/schedule-draft.js';
import {
  alertFields,
  cardsField,
  type Form,
  formatField,
  input,
  lines,
  quietField,
  select,
  whenFields,
} from '../../elements/schedule-fields.js';
import { conditionName, daysName, ownTimezone, recurrenceName } from '../../elements/schedule-words.js';
import { datePresets } from '../../filters/filter-values.js';
import type { Template, TemplateFilter, TemplateMetric } from '../base/content.js';
import { openDialog, timeZone } from '../base/kit.js';
import {
  type Controls,
  controlFaults,
  filterControl,
  filterControls,
  formats,
  type HostReport,
  leastControl,
  listIn,
  mostControl,
  type NewReport,
  planOf,
} from '../base/report-plan.js';
import { type KnownViewer, viewerOf, whoSees } from '../base/viewer.js';
import { mailShown, type SentMail } from './mail.js';

const format = createFormat('en');
const words = {
  ...{ card: 'Chart', cards: 'Charts', someCards: 'Only some charts', tellIf: 'Tell if it' },
  cronHint: 'five fields; the minute is one number',
};

/** When a report is sent, in few words. */
export const recurrenceText = (recurrence: Recurrence): string => recurrenceName(recurrence, format, '');

/**
 * When a report is sent, in a list. All times of a list are in the reader's zone: of another zone only the days are said,
 * and the column of the next moment has the time.
 */
export const listedRecurrence = (recurrence: Recurrence): string =>
  recurrence.timezone === timeZone || 'cron' in recurrence
    ? recurrenceName(recurrence, format, timeZone)
    : daysName(recurrence, format);

/** What an alert tells, in few words. */
export const alertText = ({ metricId, measure, condition }: Alert): string => {
  const said = `${measure} of ${metricId} ${conditionName(condition.is, format.text).toLowerCase()}`;
  if ('value' in condition) return `${said} ${condition.value}`;
  if (!('percent' in condition)) return said;
  const than = condition.to === 'lastCheck' ? 'the last check' : 'the period before';
  return `${said} ${Math.abs(condition.percent)} %, compared with ${than}`;
};

/** What a report of a template can hold. */
export type ReportParts = {
  readonly metrics: readonly Pick<TemplateMetric, 'metricId' | 'name' | 'definition'>[];
  readonly filters: readonly TemplateFilter[];
};

type Asked = {
  /** What may be sent; of a report that is changed, its template. */
  readonly templates: readonly Pick<Template, 'dashboardId' | 'name'>[];
  /** Of a report that is changed. */
  readonly given?: HostReport;
  /** Rejects if the template cannot be read: its metrics and filters then stay as they are. */
  readonly partsOf: (dashboardId: string) => Promise<ReportParts>;
  /** Null: this person may see no user's mail. */
  readonly preview: {
    readonly listReaders: (dashboardId: string) => Promise<readonly KnownViewer[]>;
    readonly read: (report: NewReport, reader: KnownViewer) => Promise<SentMail>;
  } | null;
  /** Rejects if the server refuses the report: the dialog then stays and says why. */
  readonly save: (report: NewReport) => Promise<void>;
};

type State = {
  draft: Draft;
  controls: Controls;
  /** `reading`: not known yet. */
  parts: ReportParts | 'reading' | { readonly problem: string };
  faults: Faults;
  isBusy: boolean;
  /** Users who were here lately. Undefined: not known yet. */
  readers: readonly KnownViewer[] | undefined;
  mail: { readonly who: string; readonly sent: SentMail } | undefined;
};

const textOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const partsIn = ({ parts }: State): ReportParts | undefined =>
  typeof parts === 'object' && 'filters' in parts ? parts : undefined;

const measuresOf = ({ definition }: ReportParts['metrics'][number]): readonly string[] => [
  ...definition.measures.map(({ name }) => name),
  ...(definition.kind === 'visual' ? (definition.calculations ?? []) : []).map(({ name }) => name),
];
const cardsIn = (state: State): readonly Card[] =>
  (partsIn(state)?.metrics ?? []).map((metric) => ({
    ...{ metricId: metric.metricId, name: metric.name, measures: measuresOf(metric) },
    conditions: allConditions,
  }));

const startOf = ({ templates, given }: Asked): State => {
  const { roles = [], users = [] } = given?.recipients ?? {};
  return {
    draft: given ? draftOf({ ...given, mutedUntil: null, recipients: null }, []) : newDraft('pdf', [], ownTimezone()),
    controls: { dashboardId: templates[0]?.dashboardId ?? '', roles: roles.join(', '), users: users.join(', ') },
    parts: templates.length === 0 ? { metrics: [], filters: [] } : 'reading',
    faults: {},
    isBusy: false,
    readers: undefined,
    mail: undefined,
  };
};

const choose = (state: State, control: Pick<HTMLInputElement, 'name' | 'value' | 'checked'>): void => {
  state.draft = changed(state.draft, control, cardsIn(state));
  state.controls = { ...state.controls, [control.name]: control.value };
  state.faults = forgiven(state.faults, control.name);
  // It shows what is no longer asked for.
  state.mail = undefined;
};

/** What the template no longer has is no longer chosen. What was typed meanwhile stays. */
const takeParts = (state: State, parts: State['parts']): void => {
  state.parts = parts;
  const filters = partsIn(state)?.filters;
  if (filters === undefined) return;
  const cards = cardsIn(state);
  const metricIds = state.draft.metricIds.filter((id) => cards.some(({ metricId }) => metricId === id));
  state.draft = fitted({ ...state.draft, metricIds }, cards);
  state.controls = { ...filterControls(filters, state.draft.filters), ...state.controls };
};

/** Resolves when the report is saved, or the dialog is closed. */
export const askReport = async (asked: Asked): Promise<void> => void (await new ReportDialog(asked).closed);

class ReportDialog {
  readonly closed: Promise<unknown>;
  readonly #asked: Asked;
  readonly #title: string;
  readonly #state: State;
  readonly #dialog: HTMLDialogElement;
  readonly #drawIn: (next: TemplateResult) => void;
  #reading = Promise.resolve();

  constructor(asked: Asked) {
    this.#asked = asked;
    this.#title = asked.given === undefined ? 'Report to all tenants' : 'Change the report';
    this.#state = startOf(asked);
    const { dialog, draw, closed } = openDialog(this.#title, this.#form());
    this.#dialog = dialog;
    this.#drawIn = draw;
    this.closed = closed;
    const [first] = asked.templates;
    if (first !== undefined) this.#read(first.dashboardId);
  }

  #draw(): void {
    this.#drawIn(this.#form());
  }

  #form(): TemplateResult {
    const { given, preview } = this.#asked;
    return html`<form class="form" @submit=${this.#submit} @input=${this.#change}>
      <h2>${this.#title}</h2>
      ${fields(this.#asked, this.#state)}
      ${preview === null ? nothing : previewFields(this.#state, (reader) => void this.#look(reader))}
      <div class="buttons"><button type="button" class="quiet" @click=${() => this.#dialog.close()}>Cancel</button>
        <button>${given === undefined ? 'Schedule' : 'Save'}</button></div>
    </form>`;
  }

  #read(dashboardId: string): void {
    this.#reading = this.#readParts(dashboardId);
    void this.#readReaders(dashboardId);
  }

  async #readParts(dashboardId: string): Promise<void> {
    this.#state.parts = 'reading';
    const parts = await this.#asked.partsOf(dashboardId).catch((error: unknown) => ({ problem: textOfError(error) }));
    // Meanwhile another template may have been chosen.
    if (this.#state.controls.dashboardId !== dashboardId) return;
    takeParts(this.#state, parts);
    this.#draw();
  }

  async #readReaders(dashboardId: string): Promise<void> {
    const { preview } = this.#asked;
    if (preview === null) return;
    this.#state.readers = undefined;
    const readers = await preview.listReaders(dashboardId).catch((error: unknown) => {
      this.#state.faults = { ...this.#state.faults, form: `The users cannot be read. ${textOfError(error)}` };
      return [];
    });
    if (this.#state.controls.dashboardId !== dashboardId) return;
    this.#state.readers = readers;
    this.#draw();
  }

  /** Does something with what the form asks for, and says at its field what is refused. */
  async #withPlan(work: (report: NewReport) => Promise<void>): Promise<void> {
    const state = this.#state;
    if (state.isBusy) return;
    state.isBusy = true;
    this.#draw();
    // What the template has decides what is saved. Another one may be chosen while it is read.
    while (state.parts === 'reading') await this.#reading;
    const filters = partsIn(state)?.filters;
    try {
      await work(planOf(state.draft, state.controls, filters));
    } catch (error) {
      state.faults = controlFaults(textOfError(error), filters ?? []);
    } finally {
      state.isBusy = false;
      this.#draw();
      this.#dialog.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    }
  }

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    await this.#withPlan(async (report) => {
      await this.#asked.save(report);
      this.#dialog.close();
    });
  };

  async #look(reader: KnownViewer): Promise<void> {
    await this.#withPlan(async (report) => {
      const sent = await this.#asked.preview?.read(report, reader);
      this.#state.mail = sent && { who: whoSees(viewerOf(reader)), sent };
    });
    this.#dialog.querySelector('.mail')?.scrollIntoView({ block: 'nearest' });
  }

  readonly #change = ({ target }: Event): void => {
    const control = target as HTMLInputElement;
    choose(this.#state, control);
    if (control.name === 'dashboardId') this.#read(control.value);
    this.#draw();
  };
}

const fields = ({ templates, given }: Asked, state: State): TemplateResult => {
  const { draft, faults, controls } = state;
  const form = { format, draft, faults, cards: cardsIn(state), words };
  // An alert stays an alert, and a report a report.
  const isAlert = draft.format === 'alert';
  const kinds = formats.filter((each) => given === undefined || (each === 'alert') === isAlert);
  return html`${input(form, 'name', 'Name', { hint: 'in the subject of the messages', isRequired: true })}
    ${
      given === undefined
        ? select(
            form,
            'dashboardId',
            'Template',
            templates.map(({ dashboardId, name }) => [dashboardId, name]),
            controls.dashboardId,
          )
        : nothing
    }
    ${formatField(form, kinds)}
    ${isAlert || takesContent(draft) ? contentFields(form, state) : nothing}
    ${whomFields(form, controls)}
    ${whenFields(form)}
    ${faults.form === undefined ? nothing : html`<p class="failure" role="alert">${faults.form}</p>`}`;
};

/** What can be chosen of the template; or what stands in its place. */
const contentFields = (form: Form, state: State): TemplateResult => {
  const { parts, controls } = state;
  if (parts === 'reading') return html`<p class="hint" aria-busy="true">Reading the template…</p>`;
  if ('problem' in parts)
    return html`<p class="notice warn">Its charts and filters cannot be chosen now, and stay as they are. ${parts.problem}</p>`;
  if (form.draft.format === 'alert') return html`${alertFields(form)} ${quietField(form)}`;
  return html`${cardsField(form)} ${parts.filters.length === 0 ? nothing : filterFields(form, parts.filters, controls)}`;
};

/** Whether the report names the user, by an identifier or a role. */
const isNamed =
  ({ roles = '', users = '' }: Controls) =>
  (reader: KnownViewer): boolean =>
    listIn(users).includes(reader.userIdentifier) || reader.roles.some((role) => listIn(roles).includes(role));

/** The mail as one of the recipients would get it. */
const previewFields = (
  { readers, controls, mail, isBusy }: State,
  look: (reader: KnownViewer) => void,
): TemplateResult => {
  const named = readers?.filter(isNamed(controls)) ?? [];
  const chosen = named[Number(controls.reader ?? 0)] ?? named[0];
  const choices = named.map((one, at) => [String(at), whoSees(viewerOf(one))] as const);
  const none = readers === undefined ? 'Reading who was here lately…' : 'None of the recipients above was here lately.';
  return html`<fieldset class="form"><legend>Preview</legend>
    ${
      chosen === undefined
        ? html`<p class="hint" aria-busy=${readers === undefined ? 'true' : 'false'}>${none}</p>`
        : html`<label>As <select name="reader">${options(choices, String(named.indexOf(chosen)))}</select></label>
          <div class="buttons"><button type="button" class="quiet" ?disabled=${isBusy} @click=${() => look(chosen)}>${isBusy ? 'Reading…' : 'Show the mail'}</button></div>`
    }
    ${mail === undefined ? nothing : mailShown(mail.sent, mail.who)}</fieldset>`;
};

const filterFields = (
  form: Form,
  filters: readonly TemplateFilter[],
  controls: Controls,
): TemplateResult => html`<fieldset class="form">
    <legend>Filters</legend>
    <p class="hint">They only narrow what a user may see.</p>
    ${filters.map((filter) => filterField(form, filter, controls))}
    <datalist id="periods">${datePresets.map((preset) => html`<option value=${preset}></option>`)}</datalist></fieldset>`;

const filterField = (form: Form, { name, dataType }: TemplateFilter, controls: Controls): TemplateResult => {
  const control = filterControl(name);
  const value = controls[control] ?? '';
  if (dataType === 'number') {
    const [least, most] = [leastControl(name), mostControl(name)];
    return html`<div class="pair">
      ${input(form, least, `${name} from`, { value: controls[least] ?? '' })}
      ${input(form, most, `${name} to`, { value: controls[most] ?? '' })}</div>`;
  }
  if (dataType === 'boolean') {
    const values = ['true', 'false'].map((each) => [each, each] as const);
    return select(form, control, name, [['', 'any'], ...values], value);
  }
  if (dataType === 'date') {
    const hint = 'a period, a day, or two days as 2026-01-01 - 2026-03-31';
    return input(form, control, name, { value, hint, list: 'periods' });
  }
  return lines(form, control, name, 'one value on each line', value);
};

const whomFields = (form: Form, { roles = '', users = '' }: Controls): TemplateResult => {
  const roleHint = 'separated by commas; in each tenant, its users who have one of them then';
  const userHint = 'identifiers, separated by commas; in each tenant in which they are known';
  const channelHint = 'of the configuration, for each of them to whom the policy grants it; empty: by e-mail';
  return html`${input(form, 'roles', 'Roles', { hint: roleHint, value: roles, placeholder: 'manager' })}
    ${input(form, 'users', 'Users', { hint: userHint, value: users })}
    ${takesContent(form.draft) ? nothing : input(form, 'channel', 'Channel', { hint: channelHint })}`;
};
