/** What an editor first does with a number: it adds up, has a mean, or is counted. */
import { expect, test } from 'vitest';
import { guestFields } from '../../src/model/guest/fields.js';
import { datamart, relationship, table } from '../engine/world.js';

test('keys are counted, measurements have a mean, and amounts are added up', () => {
  const owners = table('owners', { id: 'BIGINT', client: 'BIGINT' }, 'client');
  const pets = table(
    'pets',
    {
      ...{ Id: 'BIGINT', owner: 'BIGINT', client: 'BIGINT', chip_number: 'BIGINT' },
      ...{ weight_kg: 'DECIMAL(6,2)', price_per_unit: 'DOUBLE', total: 'BIGINT', visits: 'BIGINT' },
    },
    'client',
  );
  const model = datamart({ tables: [owners, pets], relationships: [relationship('pets.owner', 'owners.id')] });
  const scope = { datamart: model, isReadable: () => true, joinModel: 'multi' as const, conditions: [] };
  const fields = guestFields(scope, undefined).tables.flatMap(({ tableName, fields: all }) =>
    tableName === 'pets' ? all : [],
  );
  expect(Object.fromEntries(fields.map((one) => [one.columnName, one.suggestedAggregates[0]]))).toEqual({
    ...{ Id: 'COUNT_DISTINCT', owner: 'COUNT_DISTINCT', client: 'COUNT_DISTINCT', chip_number: 'COUNT_DISTINCT' },
    ...{ weight_kg: 'AVG', price_per_unit: 'AVG', total: 'SUM', visits: 'SUM' },
  });
});

test('a measure begins with the aggregate that the model names, where the model allows it for measures', () => {
  const first = (parts: object): unknown => {
    const rides = table('rides', { minutes: 'BIGINT' });
    const columns = rides.columns.map((column) => ({ ...column, ...parts }));
    const scope = { isReadable: () => true, joinModel: 'multi' as const, conditions: [] };
    const model = datamart({ tables: [{ ...rides, columns }] });
    return guestFields({ ...scope, datamart: model }, undefined).tables[0]?.fields[0]?.suggestedAggregates[0];
  };
  expect(first({})).toBe('SUM');
  expect(first({ allowAggregate: true, defaultAggregation: 'avg' })).toBe('AVG');
  expect(first({ allowAggregate: true, defaultAggregation: null })).toBe('SUM');
  expect(first({ allowAggregate: false, defaultAggregation: 'AVG' })).toBe('SUM');
  // No aggregate of numbers has this name.
  expect(first({ allowAggregate: true, defaultAggregation: 'FIRST' })).toBe('SUM');
});
