/** The built product in this process: its demo lets managers ask a model in words. */
import { createSecretKey } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { loadConfig } from '../../src/platform/config/config.js';
import { type EmbedToken, post, request } from './guest.js';
import { copyDemo, replaceIn } from './mailing.js';

type Main = Pick<typeof import('../../src/main.js'), 'start'>;
const built = new URL('../../dist/main.js', import.meta.url).href;

export type Chatting = Awaited<ReturnType<typeof startChatting>>;

/** `model` is the setting of the model; `env` has its key. */
export const startChatting = async (model: object, env: Readonly<Record<string, string>> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-chat-'));
  const file = await copyDemo(folder);
  await replaceIn(file, 'models: {}', `models: ${JSON.stringify({ small: model })}`);
  await replaceIn(file, 'userPerMinute: 10', 'userPerMinute: null');
  await replaceIn(file, 'tenantPerMinute: 60', 'tenantPerMinute: null');
  const asks = ['isAllowAiPilot: true', 'isAllowMetricCreation: true', 'metricCreationMode: CHAT'];
  const allows = ['isAllowUnderlyingData: true', ...asks].join('\n      ');
  await replaceIn(join(folder, 'config/policies/flights.yaml'), 'isAllowUnderlyingData: true', allows);
  const { start }: Main = await import(built);
  const own = { GUESTLIST_DATA_DIR: join(folder, 'data'), GUESTLIST_LOG_LEVEL: 'silent', PORT: '0', ...env };
  const halves = { gateway: true, service: true };
  const product = await start(loadConfig(own, file, { runsGateway: true, runsService: true }), halves);
  const credentials: { readonly demoJwtSecret: string; readonly demoApiKey: string } = JSON.parse(
    await readFile(join(folder, 'data/credentials.json'), 'utf8'),
  );
  const workspace = { name: 'flights', connectionType: 'DATAMART', datamartName: 'flights' };
  const offers = { isEnableMetricSuggestions: true, isEnableMetricSummary: true };
  const changed = await request(`${product.url}/api/v2/workspace`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${credentials.demoApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...workspace, ...offers }),
  });
  if (changed.status !== 200) throw new Error(changed.text);
  /** Logs a manager of an airport in. */
  const logIn = async (user: string, airport = 'LAX'): Promise<EmbedToken> => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: 'guestlist-demo', sub: user, org_id: airport, roles: ['manager'], iat: now, exp: now + 3600 };
    const signed = jwt.sign(claims, createSecretKey(Buffer.from(credentials.demoJwtSecret)));
    return (await post<EmbedToken>(`${product.url}/embed-token`, {}, signed)).body;
  };
  const close = async (): Promise<void> => {
    await product.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: product.url, logIn, close };
};
