import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { goneSignal } from '../../../src/platform/http/wire/sending.js';

test('forty queries of one dashboard wait on its signal, and Node warns of no leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const gone = goneSignal(new ServerResponse(new IncomingMessage(new Socket())), 'one');
  for (let index = 0; index < 40; index += 1) gone.addEventListener('abort', () => undefined);
  await nextTurn();
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
