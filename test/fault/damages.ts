/** The kinds of damage that a server's answers can have. Every protocol is tried with each of them. */
import type { Alter } from '../engine/relay.js';

/** A random number from 0 to below `limit`, the same for the same seed. */
const createRandom = (seed: number) => {
  let state = seed;
  return (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
};

type Random = ReturnType<typeof createRandom>;

const greetings: readonly Buffer[] = [
  Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
  Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
  Buffer.from('220 mail.example ESMTP\r\n'),
  Buffer.from('-ERR unknown command\r\n'),
  Buffer.from('J\0\0\0\x0a5.5.5-10.11.6-MariaDB\0\x01\0\0\0abcdefgh\0', 'latin1'),
  Buffer.from('E\0\0\0\x4aSFATAL\0C0A000\0Munsupported frontend protocol\0\0', 'latin1'),
  Buffer.from('T\0\x05\x61\0\0\0', 'latin1'),
  Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46]),
];

/** The alert `handshake_failure` of TLS. */
const handshakeFailure = Buffer.from([0x15, 3, 3, 0, 2, 2, 40]);

/** Damages the chunk with the number `at` of each connection, and leaves the others as they are. */
const only =
  (at: number, alter: (bytes: Buffer) => ReturnType<Alter>): Alter =>
  (bytes, index) =>
    index === at ? alter(bytes) : { bytes };

const flip = (bytes: Buffer, random: Random): Buffer => {
  const flipped = Buffer.from(bytes);
  for (let left = 1 + random(4); left > 0; left -= 1) {
    const place = random(flipped.length);
    flipped[place] = (flipped[place] ?? 0) ^ (1 + random(255));
  }
  return flipped;
};

/** The first chunks of a connection hold the greeting, the login and the first answers. */
const chunkOf = (random: Random): number => random(6);

/** `endless`: what begins a message that never ends in the protocol, and what is repeated then. */
export type Endless = { readonly first: Buffer; readonly repeated: Buffer };

const kinds = {
  'flipped bytes': (random: Random): Alter => only(chunkOf(random), (bytes) => ({ bytes: flip(bytes, random) })),
  'an answer that is cut': (random: Random): Alter =>
    only(chunkOf(random), (bytes) => ({ bytes: bytes.subarray(0, random(bytes.length)), isCut: true })),
  'an answer without its middle': (random: Random): Alter =>
    only(chunkOf(random), (bytes) => {
      const from = random(bytes.length);
      return { bytes: Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random(8))]) };
    }),
  'messages of wrong lengths': (random: Random): Alter =>
    only(chunkOf(random), (bytes) => {
      const changed = Buffer.from(bytes);
      changed[random(Math.min(6, changed.length))] = random(12);
      return { bytes: changed };
    }),
  'the greeting of another protocol': (random: Random): Alter =>
    only(random(3), () => ({ bytes: greetings[random(greetings.length)] ?? Buffer.alloc(1) })),
  'an alert of TLS': (random: Random): Alter => only(random(3), () => ({ bytes: handshakeFailure, isCut: true })),
  'an endless message': (random: Random, { first, repeated }: Endless): Alter =>
    only(random(4), () => ({ bytes: first, after: repeated })),
} as const;

export type DamageName = keyof typeof kinds;
export const damages = Object.keys(kinds) as readonly DamageName[];

/** Returns the damage of this kind. Equal seeds damage equal answers equally. */
export const damageOf = (name: DamageName, seed: number, endless: Endless): Alter =>
  kinds[name](createRandom(seed), endless);
