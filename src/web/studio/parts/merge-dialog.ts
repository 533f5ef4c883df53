/** A dialog for two authors: what each changed, and a choice where both changed the same thing. Nothing is dropped unasked. */
import { html, nothing, type TemplateResult } from 'lit';
import type { AuthorConflict } from '../../../model/dashboard/merge/merge-authors.js';
import { options } from '../../base/options.js';
import type { Choices, Merged } from '../base/content.js';
import { openDialog, valueText } from '../base/kit.js';
import { textOf } from '../base/screen.js';

type Merge = (choices: Choices) => Promise<Merged>;

/** Resolves to the merged content, or to null if the author drops the own change. */
export const askMerge = async (merge: Merge): Promise<Merged | null> => {
  let merged = await merge({});
  let saved: Merged | null = null;
  let choices: Choices = {};
  const choose = (path: string, whose: string): void => {
    const { [path]: _, ...others } = choices;
    choices = whose === 'given' || whose === 'current' ? { ...others, [path]: whose } : others;
    draw(content());
  };
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      // Values that were chosen can conflict anew, so it is asked again until nothing does.
      const next = await merge(choices);
      if (next.conflicts.length > 0) {
        merged = { ...next, conflicts: [...merged.conflicts, ...next.conflicts] };
        draw(content());
        return;
      }
      saved = next;
      dialog.close();
    } catch (error) {
      draw(content(textOf(error)));
    }
  };
  const close = (): void => dialog.close();
  const content = (problem?: string): TemplateResult => form({ merged, choices, problem, choose, save, close });
  const { dialog, draw, closed } = openDialog(title, content(), 'wide');
  await closed;
  return saved;
};

const title = 'Somebody else changed this dashboard meanwhile';

type Form = {
  readonly merged: Merged;
  readonly choices: Choices;
  readonly problem: string | undefined;
  readonly choose: (path: string, whose: string) => void;
  readonly save: (event: SubmitEvent) => Promise<void>;
  readonly close: () => void;
};

const form = ({ merged, choices, problem, choose, save, close }: Form): TemplateResult => {
  const { changes, conflicts } = merged;
  const open = conflicts.filter(({ path }) => !Object.hasOwn(choices, path)).length;
  return html`<form class="form" @submit=${save}>
    <h2>${title}</h2>
    <p class="soft">${
      conflicts.length === 0
        ? 'The changes do not collide: both can be kept.'
        : 'Both changed the same thing. Choose whose value the dashboard gets; all other changes of both are kept.'
    }</p>
    <div class="beside">${sideOf('The other’s changes', changes.current)}${sideOf('Your changes', changes.given)}</div>
    ${conflicts.length === 0 ? nothing : tableOf(conflicts, { merged, choices, choose })}
    ${problem === undefined ? nothing : html`<p class="failure" role="alert">${problem}</p>`}
    <div class="buttons">
      <button type="button" class="quiet" @click=${close}>Drop my changes</button>
      <button ?disabled=${open > 0}>${open === 0 ? 'Save both' : `${open} to choose`}</button>
    </div>
  </form>`;
};

const sideOf = (title: string, changes: Merged['changes']['given']): TemplateResult => html`<section>
  <h3>${title}</h3>
  <ul>${changes.map(({ text }) => html`<li>${text}</li>`)}</ul>
</section>`;

const tableOf = (
  conflicts: readonly AuthorConflict[],
  { merged, choices, choose }: Pick<Form, 'merged' | 'choices' | 'choose'>,
): TemplateResult => html`<div class="table" tabindex="0" role="group" aria-label="Collisions"><table>
  <thead><tr><th scope="col">What</th><th scope="col">Choice</th><th scope="col">The other’s</th><th scope="col">Yours</th><th scope="col">Before</th></tr></thead>
  <tbody>${conflicts.map(
    ({ path, base, given, current }) => html`<tr>
      <td>${placeText(path, merged)}</td>
      <td><select aria-label="Choice for ${placeText(path, merged)}" @change=${(event: Event) => choose(path, (event.target as HTMLSelectElement).value)}>
        ${options(Object.entries(words), choices[path] ?? '')}
      </select></td>
      <td>${valueText(current)}</td><td>${valueText(given)}</td><td>${valueText(base)}</td>
    </tr>`,
  )}</tbody>
</table></div>`;

/** `metrics["1c21…"].name` as `“Sales”: name`, if the merged content has the metric. */
const placeText = (path: string, { data: { metrics } }: Merged): string => {
  const metric = metrics.find(({ metricId }) => path.startsWith(`metrics[${JSON.stringify(metricId)}]`));
  if (metric === undefined) return path;
  const field = path.slice(`metrics[${JSON.stringify(metric.metricId)}].`.length);
  return `“${metric.name}”${field === '' ? '' : `: ${field.replaceAll('.', ' ')}`}`;
};

const words = { '': 'choose', current: 'the other’s', given: 'yours' } as const;
