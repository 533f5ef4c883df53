/** The texts of Studio's editor of metrics: JSON with the places of its parts, and a statement in lines. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeOfPath, readPlacedJson } from '../../src/web/studio/base/placed-json.js';
import { shownStatement } from '../../src/web/studio/base/statement-lines.js';

const parsed = (text: string): unknown => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return 'fault';
  }
};

test('JSON is read as by JSON.parse, and a text that is none has a fault within it', () => {
  const aText = fc.json({ maxDepth: 4 }).chain((text) =>
    fc.oneof(
      fc.constant(text),
      // A character is changed or lost.
      fc
        .tuple(fc.nat(text.length), fc.constantFrom('', '"', '}', ',', '\\', '\u0001', 'x'))
        .map(([at, put]) => text.slice(0, at) + put + text.slice(at + 1)),
    ),
  );
  let faults = 0;
  fc.assert(
    fc.property(aText, (text) => {
      const read = readPlacedJson(text);
      if ('value' in read) expect({ value: read.value }).toEqual(parsed(text));
      else {
        // A name that stands twice is JSON, but says two things.
        if (!read.fault.message.includes('twice')) expect(parsed(text)).toBe('fault');
        expect(read.fault.offset).toBeGreaterThanOrEqual(0);
        expect(read.fault.offset).toBeLessThanOrEqual(text.length);
        faults += 1;
      }
    }),
    { seed: 20_261_125, numRuns: 1000 },
  );
  expect(faults).toBeGreaterThan(100);
});

test('each part of JSON has its place, and a path that is missing has that of the part around it', () => {
  const text = '{ "measures": [ {"name": "a"},\n {"name": "b"} ], "limit": 3 }';
  const read = readPlacedJson(text);
  if ('fault' in read) throw new Error(read.fault.message);
  const at = (path: string) => text.slice(placeOfPath(read.places, path));
  expect(at('measures[1].name')).toMatch(/^"b"/);
  expect(at('measures[1].aggregate')).toMatch(/^\{"name": "b"/);
  expect(at('measures[7]')).toMatch(/^\[ \{"name": "a"/);
  expect(at('limit')).toMatch(/^3/);
  expect(at('chart')).toMatch(/^\{ "measures"/);
});

test('a statement has a line for each clause, and marks where a table is kept to the tenant', () => {
  const sql = `WITH "gl_leaf_0" AS NOT MATERIALIZED (SELECT "a", "b" FROM "main"."sales" WHERE "client" = CAST($1 AS VARCHAR)), "gl_leaf_1" AS (SELECT "id" FROM "main"."shops"), "gl_leaf_2" AS (SELECT "gl_leaf_2_all".* FROM "gl_leaf_2_all" WHERE "x" = $2) SELECT extract(hour FROM "a"), 'FROM WHERE (' AS "t" FROM "gl_leaf_0" LEFT JOIN "gl_leaf_1" ON true WHERE "b" > $3 GROUP BY 1 ORDER BY 1 LIMIT $4`;
  const { text, scopes } = shownStatement(sql);
  const lines = text.split('\n');
  expect(scopes.map((line) => lines[line - 1])).toEqual(['  WHERE "client" = CAST($1 AS VARCHAR)']);
  expect(lines).toContain('LEFT JOIN "gl_leaf_1" ON true');
  expect(lines.find((line) => line.startsWith('SELECT extract'))).toBe(
    `SELECT extract(hour FROM "a"), 'FROM WHERE (' AS "t"`,
  );
  // Nothing but white space is added or lost.
  expect(text.replaceAll(/\s+/g, '')).toBe(sql.replaceAll(/\s+/g, ''));
});
