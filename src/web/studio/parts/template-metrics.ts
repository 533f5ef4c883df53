/** The metrics of a template as a table, in which an author renames, edits and removes them. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TemplateMetric } from '../base/content.js';
import { link } from '../base/kit.js';

type Changes = {
  /** The address at which the metric is edited. */
  readonly addressOf: (metric: TemplateMetric) => string;
  readonly rename: (metric: TemplateMetric, next: string) => void;
  readonly remove: (metric: TemplateMetric) => void;
};

const inWords = (definition: Extract<TemplateMetric['definition'], { kind: 'visual' }>): string => {
  const measures = definition.measures.map(({ name }) => name).join(', ');
  const groups = definition.dimensions.map(({ name }) => name).join(', ');
  return [measures, groups === '' ? '' : `by ${groups}`].filter(Boolean).join(' ') || definition.from.tableName;
};

const metricRow = (metric: TemplateMetric, changes: Changes | null): TemplateResult => {
  const { metricId, name, definition } = metric;
  const rename = (event: Event): void => {
    const next = (event.target as HTMLInputElement).value.trim();
    if (next !== '' && next !== name) changes?.rename(metric, next);
  };
  return html`<tr>
    <td>${changes === null ? name : html`<input aria-label="Name of ${name}" maxlength="120" .value=${name} @change=${rename} />`}</td>
    <td><code>${metricId}</code></td>
    <td>${definition.chart.type}</td>
    <td>${definition.kind === 'sql' ? 'SQL' : inWords(definition)}</td>
    ${
      changes === null
        ? nothing
        : html`<td>
            ${link(changes.addressOf(metric), 'Edit')} ·
            <button type="button" class="text" @click=${() => changes.remove(metric)}>Remove</button>
          </td>`
    }
  </tr>`;
};

/** `changes`: null for a person who may only read. */
export const templateMetrics = (metrics: readonly TemplateMetric[], changes: Changes | null): TemplateResult =>
  metrics.length === 0
    ? html`<div class="empty"><h2>No charts yet</h2><p>Press “Add” above, and choose a chart or proposals.</p></div>`
    : html`<div class="table" tabindex="0" role="group" aria-label="List">
        <table>
          <thead><tr><th scope="col">Name</th><th scope="col">Id</th><th scope="col">Drawn as</th><th scope="col">Shows</th>${changes === null ? nothing : html`<th scope="col"><span class="sr">Actions</span></th>`}</tr></thead>
          <tbody>${metrics.map((metric) => metricRow(metric, changes))}</tbody>
        </table>
      </div>`;
