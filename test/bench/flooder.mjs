// Sends one kind of useless request at a fixed rate, as a process of its own. Started by floods.mjs, which says what and when to stop.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';

const [{ port, perSecond, make }] = await once(process, 'message');
const counts = {};
const count = (what) => {
  counts[what] = (counts[what] ?? 0) + 1;
};
let sent = 0;

/** Replaces `{n}` by the number of the request, so that each request has a new credential. */
const fill = (text) => text.replaceAll('{n}', sent.toString(16).padStart(12, '0'));

const body = make.body === undefined ? undefined : Buffer.from(make.body.repeat(make.times ?? 1) + (make.end ?? ''));
const ask = () => {
  sent += 1;
  const headers = Object.fromEntries(Object.entries(make.headers).map(([name, value]) => [name, fill(value)]));
  if (body !== undefined) headers['content-length'] = String(make.announced ?? body.length);
  const asked = request(
    { host: '127.0.0.1', port, method: make.method ?? 'POST', path: make.path, headers },
    (answer) => {
      count(answer.statusCode);
      answer.resume();
    },
  );
  // The server may cut a body that it does not read.
  asked.on('error', ({ code }) => count(code));
  if (make.announced === undefined) asked.end(body);
  else asked.write(body ?? '');
};

/** Opens one more connection that sends a byte every second, up to a maximum. */
const held = new Set();
const hold = () => {
  if (held.size >= make.connections) return;
  const socket = connect(port, '127.0.0.1');
  held.add(socket);
  socket.write(make.head);
  const timer = setInterval(() => socket.write('x'), 1000);
  socket.on('data', (data) => count(data.toString('latin1').slice(9, 12)));
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    held.delete(socket);
  });
};

setInterval(make.head === undefined ? ask : hold, 1000 / perSecond);
process.on('message', () => {
  process.send(counts, () => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
