/** A computed fact as a sentence in the reader's language. Pure. */
import type { Fact, Place } from '../../model/chat/facts.js';
import type { GuestMetric } from '../../model/guest/view.js';
import { apart } from '../base/direction.js';
import { type Format, numbersOf, withClaimedUnit } from '../base/format.js';
import { datesOf } from '../charts/model/columns.js';

type Read = { readonly at: Place; readonly value: number };

/** A date is written as its period, and everything else as the card writes it. */
const placeText = (at: Place, { chart }: GuestMetric, format: Format): string => {
  const texts = at.map(({ column, value }) => {
    const grain = chart.grains?.[column];
    const dataType = grain === undefined || typeof value === 'number' ? typeOf(value) : 'date';
    return format.dimension(value, dataType, grain, datesOf(chart, column));
  });
  return new Intl.ListFormat(format.language, { type: 'unit', style: 'short' }).format(texts);
};

const typeOf = (value: unknown): 'number' | 'boolean' | 'string' =>
  typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string';

/** Writes a fact about the metric. */
export const factText = (fact: Fact, metric: GuestMetric, format: Format): string => {
  const { text } = format;
  const measure = apart(fact.measure, format);
  const hint = numbersOf(withClaimedUnit(metric.chart), fact.measure);
  const write = (value: number): string => apart(format.measure(value, hint), format);
  const where = ({ at }: Read): string => apart(placeText(at, metric, format), format);
  switch (fact.kind) {
    case 'value': {
      const value = write(fact.value);
      if (fact.before === null) return text('{name}: {value}', { name: measure, value });
      return text('{measure}: {value}, before: {before}', { measure, value, before: write(fact.before) });
    }
    case 'latest':
    case 'change': {
      const { now, before } = fact;
      const values = {
        measure,
        at: where(now),
        earlier: where(before),
        value: write(now.value),
        before: write(before.value),
      };
      if (now.value === before.value)
        return text('{measure} stayed at {value} ({at})', { measure, value: values.value, at: values.at });
      if (fact.kind === 'change')
        return text('The largest change of {measure}: from {before} ({earlier}) to {value} ({at})', values);
      return now.value > before.value
        ? text('{measure} rose from {before} ({earlier}) to {value} ({at})', values)
        : text('{measure} fell from {before} ({earlier}) to {value} ({at})', values);
    }
    case 'share': {
      const share = apart(format.measure(fact.share, { format: 'percent' }), format);
      return text('{at} has {share} of {measure}', { at: where(fact.now), share, measure });
    }
    case 'outlier': {
      const { now, usual } = fact;
      const values = { measure, at: where(now), value: write(now.value), usual: write(usual) };
      return text('{measure} stands out at {at}: {value}, where {usual} is usual', values);
    }
    default: {
      const values = { measure, at: where(fact.now), value: write(fact.now.value) };
      return fact.kind === 'highest'
        ? text('{measure} is highest at {at}: {value}', values)
        : text('{measure} is lowest at {at}: {value}', values);
    }
  }
};
