/** A Redis Cluster of three nodes with all slots, and one replica of the first, for one test. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { freePort, type OwnRedis, startOwnRedis } from './redis.js';

const slots = 16_384;
const masters = 3;

export type OwnCluster = {
  readonly url: string;
  /** A client that follows the slots. */
  readonly connect: () => Cluster;
  /** Gives the slot of this key, with its keys, to another node. Clients learn of it from the first answer. */
  readonly moveSlotOf: (key: string) => Promise<void>;
  /** A key of the first node, which has the replica. */
  readonly keyOfFirst: (prefix: string) => Promise<string>;
  /** Kills the first node. Its replica takes its slots after a few seconds. */
  readonly killFirst: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Node = { readonly redis: OwnRedis; readonly admin: Redis; readonly bus: number; readonly file: string };

const startNode = async (): Promise<Node> => {
  const bus = await freePort();
  const file = `guestlist-nodes-${process.pid}-${bus}.conf`;
  const redis = await startOwnRedis([
    ...['--cluster-enabled', 'yes', '--cluster-config-file', file, '--cluster-port', String(bus)],
    ...[
      '--cluster-node-timeout',
      '2000',
      '--cluster-replica-validity-factor',
      '0',
      '--cluster-announce-ip',
      '127.0.0.1',
    ],
  ]);
  const folder = process.env.GUESTLIST_TEST_FOLDER ?? '/tmp';
  const admin = new Redis(redis.url);
  // A test kills the first node.
  admin.on('error', () => undefined);
  return { redis, admin, bus, file: join(folder, file) };
};

const until = async (isDone: () => Promise<boolean>): Promise<void> => {
  while (!(await isDone()));
};

const says = async (node: Node, ...words: readonly string[]): Promise<string> =>
  String(await node.admin.call('CLUSTER', ...words));

const isWhole = async (nodes: readonly Node[]): Promise<boolean> => {
  const infos = await Promise.all(nodes.map((node) => says(node, 'INFO')));
  return infos.every(
    (info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`),
  );
};

const share = (index: number): readonly [string, string] => [
  String(Math.floor((index * slots) / masters)),
  String(Math.floor(((index + 1) * slots) / masters) - 1),
];

const joinNodes = async (nodes: readonly Node[]): Promise<void> => {
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('no nodes');
  for (const [index, node] of nodes.slice(0, masters).entries()) await says(node, 'ADDSLOTSRANGE', ...share(index));
  for (const { redis, bus } of others) await says(first, 'MEET', '127.0.0.1', String(redis.port), String(bus));
  await until(() => isWhole(nodes));
  const replica = nodes[masters];
  if (replica === undefined) return;
  await says(replica, 'REPLICATE', (await says(first, 'MYID')).trim());
  await until(async () => String(await replica.admin.info('replication')).includes('master_link_status:up'));
};

export const startRedisCluster = async (): Promise<OwnCluster> => {
  const nodes = await Promise.all(Array.from({ length: masters + 1 }, startNode));
  await joinNodes(nodes);
  const ports = nodes.slice(0, masters).map(({ redis }) => redis.port);
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('no nodes');
  const ids = new Map(await Promise.all(nodes.map(async (node) => [node, await says(node, 'MYID')] as const)));
  const ownsSlot = async (node: Node, slot: number, asked = node): Promise<boolean> =>
    ((await asked.admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]).some(
      ([from, to, [, port]]) => from <= slot && slot <= to && port === node.redis.port,
    );
  return {
    url: `redis-cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    connect: () => new Cluster(ports.map((port) => ({ host: '127.0.0.1', port }))),
    moveSlotOf: async (key) => {
      const slot = Number(await says(first, 'KEYSLOT', key));
      const owners = await Promise.all(nodes.slice(0, masters).map((node) => ownsSlot(node, slot)));
      const from = nodes[owners.indexOf(true)] ?? first;
      const to = from === second ? first : second;
      await says(to, 'SETSLOT', String(slot), 'IMPORTING', ids.get(from) ?? '');
      await says(from, 'SETSLOT', String(slot), 'MIGRATING', ids.get(to) ?? '');
      const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[];
      for (const each of keys) await from.admin.migrate('127.0.0.1', to.redis.port, each, 0, 5000);
      for (const node of [to, from]) await says(node, 'SETSLOT', String(slot), 'NODE', ids.get(to) ?? '');
      // A node that has not heard of this move gives its next slot an old number, and loses it again with its keys.
      for (const node of nodes) await until(() => ownsSlot(to, slot, node));
    },
    keyOfFirst: async (prefix) => {
      for (let count = 0; ; count += 1) {
        const slot = Number(await says(first, 'KEYSLOT', `${prefix}${count}`));
        if (await ownsSlot(first, slot)) return `${prefix}${count}`;
      }
    },
    killFirst: first.redis.stop,
    stop: async () => {
      for (const { admin, redis, file } of nodes) {
        admin.disconnect();
        await redis.stop();
        rmSync(file, { force: true });
      }
    },
  };
};
