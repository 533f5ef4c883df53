/** The metrics of a template as cards that are drawn though no tenant may have them yet. */
import type { GuestMetric } from '../../../model/guest/view.js';
import type { MetricAnswer } from '../../../model/query/engine.js';
import { viewOf } from '../../editor/preview.js';
import type { TemplateMetric } from './content.js';
import { exampleAnswer } from './example-rows.js';

/** Asks for the rows, as a query of a saved metric does. */
export type AskRows = (asked: object, signal: AbortSignal) => Promise<MetricAnswer>;

/** Asks for a metric that is not saved. */
export type AskAuthored = (definition: object, asked: object, signal: AbortSignal) => Promise<MetricAnswer>;

/** `key` changes with what the card asks. */
export type Drawn = { readonly key: string; readonly metric: GuestMetric; readonly ask: AskRows };

/** What is drawn of a metric. */
type Drawable = Pick<TemplateMetric, 'metricId' | 'name' | 'definition'>;

const guestMetricOf = ({ metricId, name, definition }: Drawable): GuestMetric => {
  const { chart, dimensions, measures } = definition;
  const { calculations = [], comparison = null } = definition.kind === 'sql' ? {} : definition;
  return { ...viewOf({ chart, dimensions, measures, calculations, comparison } as never, name), metricId };
};

let made = 0;

/** Gives the same object for the same metric, so that a card that is only moved or named anew asks for nothing. */
export class DrawnMetrics {
  /** Cards of other drawings have other rows. */
  readonly #number = ++made;
  readonly #drawn = new Map<string, Drawn>();
  readonly #ask: AskAuthored | null;
  #last: Promise<unknown> = Promise.resolve();

  /** `ask` null: the rows are made up. */
  constructor(ask: AskAuthored | null) {
    this.#ask = ask;
  }

  of(metric: Drawable): Drawn {
    const { metricId, name, definition } = metric;
    const key = JSON.stringify([this.#number, metricId, definition]);
    const kept = this.#drawn.get(metricId);
    if (kept?.key === key && kept.metric.name === name) return kept;
    const shown = guestMetricOf(metric);
    const ask = kept?.key === key ? kept.ask : this.#asking(definition, shown);
    const drawn = { key, metric: shown, ask };
    this.#drawn.set(metricId, drawn);
    return drawn;
  }

  /** One question after the other: what an author looks at must not take the places of the tenant's users. */
  #asking(definition: TemplateMetric['definition'], shown: GuestMetric): AskRows {
    const ask = this.#ask;
    if (ask === null) return () => Promise.resolve(exampleAnswer(definition, shown));
    return (asked, signal) => {
      const { sort, limit, offset } = asked as Readonly<Record<string, unknown>>;
      const mine = this.#last.then(() => ask(definition, { sort, limit, offset }, signal));
      this.#last = mine.catch(() => undefined);
      return mine;
    };
  }
}
