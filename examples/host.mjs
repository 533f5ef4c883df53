// The host application of the examples without a framework: files of a folder, and /embed-token for the user of the page.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { embedToken, startGuestlist } from './guestlist.mjs';

/** In your product, the login says who the user is. */
const users = {
  ann: { sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
  ben: { sub: 'ben', org_id: 'ATL', roles: ['analyst'] },
  eve: { sub: 'eve', org_id: 'LAX', roles: [] },
};
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

export const startHost = async (folder) => {
  const guestlist = await startGuestlist();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host');
    if (pathname === '/embed-token' && request.method === 'POST') {
      const { status, body } = await embedToken(users[searchParams.get('user')] ?? users.ann, guestlist);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    if (pathname === '/settings') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ guestlistUrl: guestlist.url }));
      return;
    }
    const name = /^\/(?:assets\/)?[\w.-]+$/.test(pathname) ? pathname : '/index.html';
    const file = await readFile(join(folder, name)).catch(() => undefined);
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' }).end(file);
  });
  server.listen(Number(process.env.HOST_PORT ?? 8080), '127.0.0.1', () => {
    console.log(`The example is at http://127.0.0.1:${server.address().port}`);
  });
  process.once('SIGTERM', () => server.close());
};
