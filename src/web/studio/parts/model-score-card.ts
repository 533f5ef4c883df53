/** How well a model is described, and links to what would make it better. */
import { html, nothing, type TemplateResult } from 'lit';
import { link } from '../base/kit.js';
import { placeQuery, type Score, type Todo } from '../base/model-score.js';
import { addressOf } from '../base/routes.js';

const shownTodos = 8;

const pointsText = (points: number): string => {
  if (points === 0) return '';
  return points < 1 ? 'adds less than a point' : `adds ${Math.round(points)} of 100`;
};

const todoItem = (name: string, { place, text, points }: Todo): TemplateResult =>
  html`<li>${link(addressOf('models', [name], placeQuery(place)), text)} <span class="soft">${pointsText(points)}</span></li>`;

export const modelScore = ({ points, parts, todos }: Score, name: string): TemplateResult => {
  const first = todos.slice(0, shownTodos);
  const rest = todos.slice(shownTodos);
  return html`<section class="card score" aria-label="How well the model is described">
    <h2>How well the model is described</h2>
    <div class="split">
      <div>
        <p><span class="figure">${points} <small class="soft">of 100</small></span></p>
        <ul class="parts">${parts.map(
          ({ text, filled, all }) => html`<li><span>${text}</span> <span class="count">${filled} of ${all}</span>
            <meter aria-label=${text} min="0" max=${Math.max(all, 1)} .value=${filled}></meter></li>`,
        )}</ul>
        <p class="hint">What is hidden does not count. People find fields by these words, and chat reads them.</p>
      </div>
      <div>
        <h3>What to do next</h3>
        ${
          first.length === 0
            ? html`<p class="soft">Nothing: everything that is shown is described.</p>`
            : html`<ol class="todos">${first.map((todo) => todoItem(name, todo))}</ol>`
        }
        ${rest.length === 0 ? nothing : html`<details><summary>${rest.length} more</summary><ol class="todos" start=${shownTodos + 1}>${rest.map((todo) => todoItem(name, todo))}</ol></details>`}
      </div>
    </div>
  </section>`;
};
