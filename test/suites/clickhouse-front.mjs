/**
 * ClickHouse's HTTP interface in front of chdb, the real engine as a library: `node clickhouse-front.mjs <folder>`
 * prints its port. It is a separate process, since a crash of the engine ends it. It handles text, values and settings
 * of a request as the engine does. It cannot test what the server adds: grants, refusal of a second statement, TLS, and
 * an error in the middle of a streamed answer.
 */
import { createServer } from 'node:http';
import { Session } from 'chdb';

const [folder = ''] = process.argv.slice(2);
/** The `readonly` setting of each user's profile, by user. All users have the same password. */
const profiles = { default: 0, reader: 2, locked: 1 };
const password = process.env.CLICKHOUSE_FRONT_PASSWORD ?? '';
/** URL parameters that are not settings. */
const reserved = new Set(['query', 'query_id', 'database', 'user', 'password', 'wait_end_of_query', 'default_format']);
/** The server's default limit. */
const greatestField = 131_072;
const greatestUrl = 1_048_576;

const root = new Session(folder);
const literal = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

class Refused extends Error {
  constructor(status, code, text) {
    super(`Code: ${code}. DB::Exception: ${text}`);
    Object.assign(this, { status, code });
  }
}

const readBody = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const fieldsOf = (request, body) => {
  const boundary = /^multipart\/form-data; boundary=(.*)$/.exec(request.headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return [['query', body]];
  const fields = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => /^\r\nContent-Disposition: form-data; name="([^"]*)"\r\n\r\n(.*)\r\n$/s.exec(part)?.slice(1));
  if (fields.some(([, value]) => Buffer.byteLength(value) > greatestField)) {
    throw new Refused(400, 1000, 'HTML Form Exception: Field value too long (POCO_EXCEPTION)');
  }
  return fields;
};

const profileOf = (request) => {
  const basic = /^Basic (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const [, name = 'default', given = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(basic, 'base64').toString()) ?? [];
  if (given === password && name in profiles) return profiles[name];
  throw new Refused(403, 516, `${name}: Authentication failed: password is incorrect (AUTHENTICATION_FAILED)`);
};

const set = async (session, pairs) => {
  if (pairs.length === 0) return;
  await session.queryAsync(`SET ${pairs.map(([name, value]) => `${name} = ${literal(value)}`).join(', ')}`);
};

/** Runs each request in a new session, since HTTP requests have none. */
const answer = async (request, onSession) => {
  const url = new URL(request.url ?? '/', 'http://front');
  const all = [...url.searchParams, ...fieldsOf(request, await readBody(request))];
  const profile = profileOf(request);
  const { query = '', query_id: id = '', database, wait_end_of_query: _, ...rest } = Object.fromEntries(all);
  const session = new Session(folder);
  try {
    const given = Object.entries(rest).filter(([name]) => !reserved.has(name));
    // Bound values come first: they are not settings, so a read-only user may send them, and they are not part of the
    // query's text.
    const values = given.filter(([name]) => name.startsWith('param_'));
    if (values.length > 0) {
      await set(session, [['max_query_size', '1000000000']]);
      await set(session, [...values, ['max_query_size', '262144']]);
    }
    if (profile === 0) await set(session, Object.entries({ max_threads: '1', log_comment: id }));
    else await set(session, [['readonly', String(profile)]]);
    if (database !== undefined) await session.queryAsync(`USE "${database.replaceAll('"', '""')}"`);
    await set(
      session,
      given.filter(([name]) => !name.startsWith('param_')),
    );
    const isReadonly = profile > 0 || Number(rest.readonly ?? 0) > 0;
    onSession(isReadonly && rest.cancel_http_readonly_queries_on_client_close === '1' ? id : null);
    return (await session.queryAsync(query)).bytes();
  } finally {
    session.close();
  }
};

const statuses = { 81: 404, 60: 404, 164: 403, 159: 408 };

const server = createServer({ maxHeaderSize: greatestUrl }, async (request, response) => {
  let running = null;
  response.on('close', () => {
    if (response.writableFinished || running === null) return;
    root.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(running)}`).catch(() => undefined);
  });
  try {
    const bytes = await answer(request, (id) => {
      running = id;
    });
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
  } catch (error) {
    const code = error.clickhouseCode ?? error.code ?? 1002;
    response.writeHead(error.status ?? statuses[code] ?? 500, { 'x-clickhouse-exception-code': String(code) });
    response.end(`${error.message} (version 26.7)\n`);
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

// The parent process has ended.
process.stdin.on('end', () => process.exit(0)).resume();
