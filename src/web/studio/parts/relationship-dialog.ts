/** Asks how many rows of one column belong to one of another, and says who says so: keys, a person, or the rows. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Cardinality } from '../../../model/datamart/datamart.js';
import {
  type Checked,
  cardinalities,
  cardinalityText,
  type Ends,
  type Evidence,
  evidenceOf,
  freeName,
  proposedByKeys,
  proposedByRows,
} from '../base/cardinality.js';
import { badge, openDialog } from '../base/kit.js';
import type { Relationship } from '../base/model-edit.js';
import { endText } from '../base/model-graph.js';
import type { Keys } from '../base/model-tenancy.js';
import { textOf } from '../base/screen.js';

export type Asked = {
  readonly ends: Ends;
  readonly keys: Keys;
  /** Names that other relationships have. */
  readonly taken: readonly string[];
  /** Counts repeating values in the rows of all tenants. Null: this person may not see data of tenants. */
  readonly count: ((ends: Ends) => Promise<Checked>) | null;
};

export const evidenceBadge = ({ kind }: Evidence): TemplateResult =>
  badge(
    { proved: 'proved by a key', declared: 'declared', contradicted: 'contradicted by the rows', open: 'not declared' }[
      kind
    ],
    { proved: 'good', declared: 'plain', contradicted: 'bad', open: 'plain' }[kind] as 'good' | 'plain' | 'bad',
  );

class Dialog {
  readonly #asked: Asked;
  #cardinality: Cardinality | null;
  #checked: Checked | null = null;
  #isChecking = false;
  #draw = (): void => {};
  #problem: string | null = null;

  constructor(asked: Asked) {
    this.#asked = asked;
    this.#cardinality = proposedByKeys(asked.keys, asked.ends);
  }

  async answer(): Promise<Relationship | null> {
    const { dialog, draw, closed } = openDialog('New relationship', this.#content());
    this.#draw = () => draw(this.#content());
    const isAdded = (await closed) === 'add';
    const name = dialog.querySelector<HTMLInputElement>('input[name="name"]')?.value.trim() ?? '';
    return isAdded ? this.#relationship(name) : null;
  }

  #relationship(name: string): Relationship {
    const { ends, taken } = this.#asked;
    return {
      relationshipName: name === '' ? freeName(ends, taken) : name,
      ...{ parentTableName: ends.from.table, parentColumnName: ends.from.column },
      ...{ childTableName: ends.to.table, childColumnName: ends.to.column },
      cardinality: this.#cardinality,
    };
  }

  /** What the rows say is proposed where nothing was chosen yet. */
  async #check(count: NonNullable<Asked['count']>): Promise<void> {
    this.#isChecking = true;
    this.#problem = null;
    this.#draw();
    try {
      this.#checked = await count(this.#asked.ends);
      this.#cardinality ??= proposedByRows(this.#checked);
    } catch (error) {
      this.#problem = textOf(error);
    } finally {
      this.#isChecking = false;
      this.#draw();
    }
  }

  #checkButton(): TemplateResult {
    const { count } = this.#asked;
    if (count === null)
      return html`<p class="soft">Whether the rows contradict it can be checked by persons who may see data of tenants.</p>`;
    const text = this.#isChecking ? 'Counting…' : 'Check the rows';
    return html`<div><button type="button" class="quiet" ?disabled=${this.#isChecking} @click=${() => void this.#check(count)}>${text}</button>
      <span class="hint">counts values that repeat, and shows none</span></div>`;
  }

  #content(): TemplateResult {
    const { ends, keys, taken } = this.#asked;
    const evidence = evidenceOf(this.#cardinality, ends, keys, this.#checked);
    const choose = (event: Event): void => {
      const { value } = event.target as HTMLSelectElement;
      this.#cardinality = cardinalities.find((one) => one === value) ?? null;
      this.#draw();
    };
    const option = (value: string, text: string): TemplateResult =>
      html`<option value=${value} .selected=${value === (this.#cardinality ?? '')}>${text}</option>`;
    return html`<form method="dialog" class="form">
        <h2>New relationship</h2>
        <p><code>${endText(ends.from)}</code> to <code>${endText(ends.to)}</code></p>
        <label>How many rows belong together?
          <select name="cardinality" autofocus @change=${choose}>
            ${option('', 'not declared')} ${cardinalities.map((one) => option(one, `${cardinalityText[one]}: ${inWords(ends)[one]}`))}
          </select>
        </label>
        <div role="status"><p>${evidenceBadge(evidence)} ${evidence.text}</p>${evidence.kind === 'declared' ? believed : nothing}
          ${this.#problem === null ? nothing : html`<p class="notice bad">${this.#problem}</p>`}</div>
        ${this.#checkButton()}
        <label>Name<input name="name" maxlength="120" autocomplete="off" .defaultValue=${freeName(ends, taken)} /></label>
        <div class="buttons"><button value="" class="quiet" formnovalidate>Cancel</button><button value="add" ?disabled=${evidence.kind === 'contradicted'}>Add the relationship</button></div>
      </form>`;
  }
}

const believed = html`<p class="soft">A declared cardinality is believed, also where it decides whose rows a table holds.</p>`;

const inWords = ({ from, to }: Ends): Readonly<Record<Cardinality, string>> => {
  const [one, other] = [from, to].map(({ table }) => table.split('.').at(-1) ?? table);
  return {
    ManyToOne: `many rows of ${one} for one of ${other}`,
    OneToOne: `at most one row each`,
    OneToMany: `many rows of ${other} for one of ${one}`,
    ManyToMany: `many rows on both sides`,
  };
};

/** Null: the person does not want it. */
export const askRelationship = (asked: Asked): Promise<Relationship | null> => new Dialog(asked).answer();
