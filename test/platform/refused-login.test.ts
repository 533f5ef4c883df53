/** What is said of a metadata database that answers and refuses the login, by the protocol of PostgreSQL. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/databases/database.js';

const errorResponse = (code: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mpassword authentication failed for user "ana"\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
};

test('a wrong password of the metadata database is called so, and is not in the message', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(errorResponse('28P01')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opening = openDatabase({ databaseUrl: `postgres://ana:geheim@127.0.0.1:${port}/x`, folder: null });
  const error = await opening.catch((cause: Error) => cause);
  server.close();
  expect(String(error)).toContain('DATABASE_URL: the server refused the credentials; check username and password');
  expect(String(error)).not.toContain('geheim');
});
