import type { AllowedFunction } from './grammar.js';
import { readExpression, readInterval, readUnit } from './operators.js';
import { readOrder } from './queries.js';
import { type Reader, readCount, readList } from './reader.js';
import type { Call, Expression, Window } from './tree.js';

/** A call of an allowed function; whatever the list lacks is refused by its name. */
export const readCall = (reader: Reader): Call => {
  const { text, location } = reader.next();
  const allowed = reader.grammar.functions.get(text.toUpperCase());
  if (allowed === undefined) {
    const name = text.length > 64 ? 'a function' : `function ${text}`;
    return reader.refuse(`${name}, which is not among the allowed ones,`, 'sql-function', location);
  }
  const call = reader.takeSymbol('(') ? readArguments(reader, allowed) : { ...nothing, args: [] };
  const window = readWindow(reader);
  if (allowed.kind === 'window' && window === null) reader.refuseNext('OVER');
  if (allowed.kind === 'scalar' && window !== null)
    reader.refuse('OVER behind a function that does not aggregate', 'sql-function', location);
  return {
    kind: 'call',
    name: allowed.name,
    isAggregate: allowed.kind === 'aggregate' && window === null,
    ...call,
    window,
  };
};

const nothing = { isDistinct: false, unit: null, levels: [], order: [], separator: null } as const;

type Arguments = Pick<Call, 'args' | 'isDistinct' | 'unit' | 'levels' | 'order' | 'separator'>;

const readArguments = (reader: Reader, allowed: AllowedFunction): Arguments => {
  if (allowed.name.toUpperCase() === 'COUNT' && reader.takeSymbol('*')) {
    reader.expectSymbol(')');
    return { ...nothing, args: 'all' };
  }
  if (allowed.form === 'level' && reader.peek().kind === 'number') return readLevels(reader);
  if (allowed.form === 'unit') {
    const unit = readUnit(reader);
    reader.expectSymbol(',');
    return { ...nothing, unit, args: readItems(reader, allowed) };
  }
  const isDistinct = reader.takeWords('DISTINCT');
  if (isDistinct && allowed.kind !== 'aggregate') reader.refuse('DISTINCT in a function that does not aggregate');
  if (reader.takeSymbol(')')) return { ...nothing, isDistinct, args: [] };
  const args = readList(reader, () => readArgument(reader, allowed));
  const isConcat = reader.has('group-concat') && allowed.name === 'GROUP_CONCAT';
  const order = isConcat && reader.isWords('ORDER BY') ? readOrder(reader) : [];
  const separator = isConcat && reader.takeWords('SEPARATOR') ? readSeparator(reader) : null;
  reader.expectSymbol(')');
  return { ...nothing, isDistinct, args, order, separator };
};

const readSeparator = (reader: Reader): string => {
  const { kind, text } = reader.peek();
  if (kind !== 'text') return reader.refuseNext('text');
  reader.next();
  return text;
};

/** `quantile(0.5)(x)`. */
const readLevels = (reader: Reader): Arguments => {
  const levels = readList(reader, () => {
    const { kind, text } = reader.peek();
    if (kind !== 'number') return reader.refuseNext('a number');
    reader.next();
    return text;
  });
  reader.expectSymbol(')');
  reader.expectSymbol('(');
  const args = readList(reader, () => readExpression(reader));
  reader.expectSymbol(')');
  return { ...nothing, levels, args };
};

const readItems = (reader: Reader, allowed: AllowedFunction): readonly Expression[] => {
  const args = readList(reader, () => readArgument(reader, allowed));
  reader.expectSymbol(')');
  return args;
};

const readArgument = (reader: Reader, { form }: AllowedFunction): Expression =>
  form === 'interval' && reader.isWords('INTERVAL') ? readInterval(reader) : readExpression(reader);

const readWindow = (reader: Reader): Window | null => {
  if (!reader.takeWords('OVER')) return null;
  if (!reader.takeSymbol('(')) return reader.refuseNext('a window in parentheses');
  const partition = reader.takeWords('PARTITION BY') ? readList(reader, () => readExpression(reader)) : [];
  const order = reader.isWords('ORDER BY') ? readOrder(reader) : [];
  const unit = ['ROWS', 'RANGE'].find((word) => reader.takeWords(word));
  const frame = unit === undefined ? null : `${unit} ${readFrame(reader)}`;
  reader.expectSymbol(')');
  return { partition, order, frame };
};

const readFrame = (reader: Reader): string => {
  if (!reader.takeWords('BETWEEN')) return readBound(reader);
  const first = readBound(reader);
  reader.expectWords('AND');
  return `BETWEEN ${first} AND ${readBound(reader)}`;
};

const readBound = (reader: Reader): string => {
  if (reader.takeWords('CURRENT ROW')) return 'CURRENT ROW';
  const many = reader.takeWords('UNBOUNDED') ? 'UNBOUNDED' : readCount(reader);
  const direction = ['PRECEDING', 'FOLLOWING'].find((word) => reader.takeWords(word));
  return direction === undefined ? reader.refuseNext('PRECEDING or FOLLOWING') : `${many} ${direction}`;
};
