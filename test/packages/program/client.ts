import { createClient, dataOf, GuestlistError, type paths } from '@guestlist/client';

const [, , baseUrl = '', credential = ''] = process.argv;
const guestlist = createClient({ baseUrl, credential, timeoutMs: 10_000 });
type Body = NonNullable<paths['/api/v2/guest-token/create']['post']['requestBody']>['content']['application/json'];
const body: Body = {
  clientId: 'LAX',
  dataAppName: 'flights',
  params: { allowedEmbeds: [] },
  expiryTime: 60_000,
};
const { token } = await dataOf(guestlist.POST('/api/v2/guest-token/create', { body }));
const text: string = token;
// @ts-expect-error: there is no such path
void (() => guestlist.GET('/api/v2/nowhere'));
// @ts-expect-error: the client is text
void (() => guestlist.POST('/api/v2/guest-token/create', { body: { ...body, clientId: 1 } }));
const refused: unknown = await dataOf(
  createClient({ baseUrl, credential: 'wrong' }).POST('/api/v2/guest-token/create', { body }),
).catch((error: unknown) => error);
const code = refused instanceof GuestlistError ? refused.code : String(refused);
console.log(JSON.stringify({ hasToken: text.length > 20, code }));
