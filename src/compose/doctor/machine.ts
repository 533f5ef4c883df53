/** Looks at this machine: Node.js, the browser, the data folder, addresses, and the process that runs here. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../platform/config/config.js';
import { findBrowser } from '../renderer.js';
import { type Finding, finding, good, wordsOf } from './finding.js';

/** Whether the host is this machine, so that nobody reads what goes there. */
export const isLocalHost = (host: string): boolean =>
  host === '' ||
  host === 'localhost' ||
  host === '::1' ||
  host === '[::1]' ||
  /^127\.\d+\.\d+\.\d+$/.test(host) ||
  host.startsWith('/');

const leastNode = [20, 19] as const;

export const examineNode = (version: string): readonly Finding[] => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]);
  return isOld
    ? [
        finding('fault', 'versions', `Node.js ${version} is older than ${leastNode.join('.')}`, {
          mend: 'Install a newer Node.js.',
        }),
      ]
    : [good('versions', `Node.js ${version}`)];
};

const browserMend =
  'Install Chromium (Debian: apt install chromium), or name one by renders.chromiumPath. Without it, PNG and PDF are answered with 503.';

export const examineBrowser = async (settings: Config['settings']): Promise<readonly Finding[]> => {
  const path = findBrowser(settings);
  if (path === null) return [finding('warning', 'Chromium', 'there is none', { mend: browserMend })];
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 });
    return [good('Chromium', /[\w ]+ \d+(?:\.\d+)*/.exec(stdout)?.[0] ?? 'it answers', path)];
  } catch (error) {
    return [
      finding('fault', 'Chromium', 'it does not start', { subject: `${path}: ${wordsOf(error)}`, mend: browserMend }),
    ];
  }
};

/** The files that only the owner may read. */
export const examineFolder = async ({ dataDir }: Config['settings']): Promise<readonly Finding[]> => {
  const folder = resolve(dataDir);
  if (!existsSync(folder)) return [finding('note', 'data folder', 'there is none yet: the first start makes it')];
  const open: string[] = [];
  for (const name of ['credentials.json', 'metadata', 'gateway', 'sources/uploads']) {
    const path = join(folder, name);
    if (existsSync(path) && ((await stat(path)).mode & 0o077) !== 0) open.push(name);
  }
  return open.length === 0
    ? [good('data folder', 'only its owner can read it')]
    : [
        finding('fault', 'data folder', `others of this machine can read ${open.join(', ')}`, {
          subject: folder,
          mend: 'chmod -R go= on each of them.',
        }),
      ];
};

export const examineAddresses = ({ settings, isProduction, isDemo }: Config): readonly Finding[] => {
  const { publicOrigin } = settings.gateway;
  if (isDemo) return [finding('note', 'TLS', 'the demo needs no address of its own')];
  if (publicOrigin === null)
    return [
      finding(isProduction ? 'warning' : 'note', 'TLS', 'no public address is set (gateway.publicOrigin)', {
        mend: 'Set it to the https:// address at which browsers reach the gateway: links of mails need it.',
      }),
    ];
  return publicOrigin.startsWith('https://') || isLocalHost(new URL(publicOrigin).hostname)
    ? [good('TLS', 'browsers reach the gateway by TLS')]
    : [
        finding('fault', 'TLS', 'browsers reach the gateway without TLS: tokens can be read on the way', {
          subject: publicOrigin,
          mend: 'Put a proxy with a certificate before it, and set gateway.publicOrigin to its https:// address.',
        }),
      ];
};

/** What `/readyz` of the running process answers to an operator; null: nothing runs there. */
export type Ready = {
  readonly status: string;
  readonly failed?: readonly string[];
  readonly fix?: Readonly<Record<string, string>>;
  readonly clockSkewMs?: number;
};

export type ReadReady = () => Promise<Ready | null>;

export const examineProcess = async (readReady: ReadReady): Promise<readonly Finding[]> => {
  const ready = await readReady();
  if (ready === null) return [finding('note', 'process', 'no Guestlist runs at the configured address')];
  const failed = ready.failed ?? [];
  if (ready.status === 'ready') return [good('process', 'the running process is ready')];
  return failed.length === 0
    ? [
        finding('fault', 'process', 'the running process is not ready', {
          mend: 'Read /readyz with the gateway token.',
        }),
      ]
    : failed.map((name) =>
        finding('fault', 'process', `the running process fails its check ${name}`, {
          mend: ready.fix?.[name] ?? 'Look for readiness.check_failed in its log.',
        }),
      );
};
