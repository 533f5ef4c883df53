/** A dialog that asks for a report to all tenants: what, to whom and when. */
import { html, nothing, render, type TemplateResult } from 'lit';
import type { Template } from '../base/content.js';

export type Recurrence = { readonly timezone: string } & (
  | { readonly cron: string }
  | { readonly every: 'day' | 'workday'; readonly at: string }
  | { readonly every: 'week'; readonly on: readonly string[]; readonly at: string }
  | { readonly every: 'month'; readonly day: number | 'last'; readonly at: string }
);

/** What the dialog asks for. What it does not show keeps its value. */
export type ReportPlan = {
  readonly name: string;
  readonly format: string;
  readonly recurrence: Recurrence;
  readonly recipients: { readonly roles: readonly string[]; readonly users: readonly string[] };
};
export type NewReport = ReportPlan & { readonly dashboardId: string };

export const formats = ['pdf', 'png', 'xlsx', 'csv', 'link'] as const;
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const dayNames = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};
const everyNames = {
  workday: 'Monday to Friday',
  day: 'every day',
  week: 'every week',
  month: 'every month',
  cron: 'as a cron expression says',
};

/** When a report is sent, in few words. */
export const recurrenceText = (recurrence: Recurrence): string => {
  const { timezone } = recurrence;
  if ('cron' in recurrence) return `${recurrence.cron} (${timezone})`;
  const on =
    recurrence.every === 'week'
      ? recurrence.on.map((day) => dayNames[day as keyof typeof dayNames]).join(', ')
      : recurrence.every === 'month'
        ? `day ${recurrence.day} of the month`
        : everyNames[recurrence.every];
  return `${on}, ${recurrence.at} (${timezone})`;
};

const listOf = (text: FormDataEntryValue | null): readonly string[] =>
  String(text ?? '')
    .split('\n')
    .flatMap((line) => line.split(','))
    .map((each) => each.trim())
    .filter(Boolean);

const recurrenceOf = (form: FormData): Recurrence => {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  const timezone = text('timezone');
  const at = text('at');
  switch (text('every')) {
    case 'cron':
      return { timezone, cron: text('cron') };
    case 'week':
      return { timezone, every: 'week', on: form.getAll('on').map(String), at };
    case 'month':
      return { timezone, every: 'month', day: text('day') === 'last' ? 'last' : Number(text('day')), at };
    case 'day':
      return { timezone, every: 'day', at };
    default:
      return { timezone, every: 'workday', at };
  }
};

const planOf = (form: FormData): NewReport => ({
  dashboardId: String(form.get('dashboardId') ?? ''),
  name: String(form.get('name') ?? '').trim(),
  format: String(form.get('format') ?? ''),
  recurrence: recurrenceOf(form),
  recipients: { roles: listOf(form.get('roles')), users: listOf(form.get('users')) },
});

type Asked = {
  /** Of a new report: what may be sent. */
  readonly templates: readonly Template[];
  /** Of a report that is changed. */
  readonly given?: ReportPlan;
  /** Rejects if the server refuses the report: the dialog then stays and says why. */
  readonly save: (report: NewReport) => Promise<void>;
};

/** Resolves when the report is saved, or the dialog is closed. */
export const askReport = ({ templates, given, save }: Asked): Promise<void> =>
  new Promise((resolve) => {
    const dialog = document.createElement('dialog');
    let every = given === undefined ? 'workday' : 'cron' in given.recurrence ? 'cron' : given.recurrence.every;
    let problem: string | undefined;
    let isBusy = false;
    const submit = async (event: SubmitEvent): Promise<void> => {
      event.preventDefault();
      if (isBusy) return;
      isBusy = true;
      try {
        await save(planOf(new FormData(event.target as HTMLFormElement)));
        dialog.close();
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      } finally {
        isBusy = false;
        draw();
      }
    };
    const chooseEvery = (event: Event): void => {
      every = (event.target as HTMLSelectElement).value as typeof every;
      draw();
    };
    const close = (): void => dialog.close();
    const draw = (): void => {
      render(
        html`<form class="form" @submit=${submit}>
          <h2>${given === undefined ? 'Report to all tenants' : 'Change the report'}</h2>
          ${whatFields(templates, given)}
          ${whenFields(every, given?.recurrence, chooseEvery)}
          ${problem === undefined ? nothing : html`<p class="failure" role="alert">${problem}</p>`}
          <div class="buttons"><button type="button" class="quiet" @click=${close}>Cancel</button>
            <button>${given === undefined ? 'Schedule' : 'Save'}</button></div>
        </form>`,
        dialog,
      );
    };
    draw();
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });

const option = (value: string, text: string, chosen: string | undefined): TemplateResult =>
  html`<option value=${value} ?selected=${value === chosen}>${text}</option>`;

const whatFields = (templates: readonly Template[], given: ReportPlan | undefined): TemplateResult => html`
  <label>Name <span class="hint">in the subject of the messages</span>
    <input name="name" required maxlength="255" autofocus autocomplete="off" .value=${given?.name ?? ''} /></label>
  ${
    given === undefined
      ? html`<label>Template
        <select name="dashboardId" required>${templates.map(({ dashboardId, name }) => option(dashboardId, name, undefined))}</select></label>`
      : nothing
  }
  <label>Format
    <select name="format">${formats.map((each) => option(each, each, given?.format))}</select></label>
  <label>Roles <span class="hint">separated by commas; in each tenant, its users who have one of them then</span>
    <input name="roles" autocomplete="off" placeholder="manager" .value=${(given?.recipients.roles ?? []).join(', ')} /></label>
  <label>Users <span class="hint">identifiers, separated by commas; in each tenant in which they are known</span>
    <input name="users" autocomplete="off" .value=${(given?.recipients.users ?? []).join(', ')} /></label>`;

const whenFields = (every: string, given: Recurrence | undefined, choose: (event: Event) => void): TemplateResult => {
  const timezone = given?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const at = given !== undefined && 'at' in given ? given.at : '08:00';
  return html`<label>When
      <select name="every" @change=${choose}>${Object.entries(everyNames).map(([value, text]) => option(value, text, every))}</select></label>
    ${every === 'week' ? weekFields(given) : nothing}
    ${every === 'month' ? monthField(given) : nothing}
    ${
      every === 'cron'
        ? html`<label>Cron expression <span class="hint">five fields; the minute is one number</span>
          <input name="cron" required placeholder="0 8 * * 1-5" autocomplete="off"
            .value=${given !== undefined && 'cron' in given ? given.cron : ''} /></label>`
        : html`<label>At <input name="at" type="time" required .value=${at} /></label>`
    }
    <label>Time zone <input name="timezone" required autocomplete="off" .value=${timezone} /></label>`;
};

const weekFields = (given: Recurrence | undefined): TemplateResult => {
  const chosen = given !== undefined && 'on' in given ? given.on : ['mon'];
  return html`<fieldset class="days"><legend>On</legend>
    ${days.map((day) => html`<label class="inline"><input type="checkbox" name="on" value=${day} ?checked=${chosen.includes(day)} /> ${dayNames[day]}</label>`)}
  </fieldset>`;
};

const monthField = (given: Recurrence | undefined): TemplateResult => {
  const chosen = String(given !== undefined && 'day' in given ? given.day : 1);
  const all = [...Array.from({ length: 31 }, (_, index) => String(index + 1)), 'last'];
  return html`<label>Day <select name="day">${all.map((day) => option(day, day, chosen))}</select></label>`;
};
