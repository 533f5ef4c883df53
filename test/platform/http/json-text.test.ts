/** Long answers are written in slices, with the same text as if they were written at once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { holdsSlices, jsonPieces, jsonText } from '../../../src/platform/http/wire/json-text.js';

const sliced = async (body: unknown) => {
  let turns = 0;
  const text = await jsonText(body, () => {
    turns += 1;
    return Promise.resolve();
  });
  return { text, turns };
};

it('writes the same text as JSON.stringify for any body', async () => {
  const item = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.date({ noInvalidDate: true }));
  const list = fc.oneof(fc.array(item, { maxLength: 20 }), fc.array(item, { minLength: 101, maxLength: 350 }));
  const flat = fc.dictionary(fc.string(), fc.oneof(item, list));
  const body = fc.oneof(flat, fc.record({ data: flat, error: item }), list, fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(body, async (value) => {
      expect((await sliced(value)).text).toBe(JSON.stringify(value));
    }),
  );
});

it('writes a list of thousands of items in slices of a hundred', async () => {
  const data = Array.from({ length: 4000 }, (_, index) => ({ name: `embed ${index}` }));
  expect(await sliced({ data, error: null })).toEqual({ text: JSON.stringify({ data, error: null }), turns: 40 });
});

it('writes a short body at once', () => {
  expect(jsonText({ data: Array.from({ length: 100 }, () => 1), error: null })).toBeTypeOf('string');
});

it('writes lists in slices with the same text, however they are cut', async () => {
  const inner = fc.array(fc.integer(), { minLength: 101, maxLength: 250 });
  const item = fc.oneof(fc.jsonValue(), fc.record({ name: fc.string(), inner }), fc.constant(undefined));
  const body = fc.record({
    before: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
    data: fc.array(fc.array(item, { maxLength: 5 }), { maxLength: 5 }),
    error: fc.constant(null),
  });
  await fc.assert(
    fc.asyncProperty(body, async ({ data, ...rest }) => {
      const inSlices = async function* () {
        yield* data;
      };
      const sliced = { ...rest, data: inSlices() };
      expect(holdsSlices(sliced)).toBe(true);
      let text = '';
      for await (const piece of jsonPieces(sliced)) text += piece;
      expect(text).toBe(JSON.stringify({ ...rest, data: data.flat() }));
    }),
  );
});
