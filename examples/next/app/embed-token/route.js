import { createHmac } from 'node:crypto';

/** In your product, the login says who the user is. */
const users = {
  ann: { sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
  ben: { sub: 'ben', org_id: 'ATL', roles: ['analyst'] },
  eve: { sub: 'eve', org_id: 'LAX', roles: [] },
};
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Asks Guestlist what the user may see; the secret stays on the server. */
export async function POST(request) {
  const { GUESTLIST_URL, GUESTLIST_HOST_JWT_SECRET } = process.env;
  const user = users[new URL(request.url).searchParams.get('user')] ?? users.ann;
  const now = Math.floor(Date.now() / 1000);
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...user, iat: now, exp: now + 300 })}`;
  const signature = createHmac('sha256', GUESTLIST_HOST_JWT_SECRET).update(text).digest('base64url');
  const answer = await fetch(`${GUESTLIST_URL}/embed-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${text}.${signature}` },
  });
  return Response.json(await answer.json(), { status: answer.status });
}
