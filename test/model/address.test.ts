/** Addresses of recipients: which are of one mailbox. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mailboxOf, readAddress } from '../../src/model/schedule/address.js';
import { findMailbox, isOfMailbox, type KnownAddress, listMailboxes } from '../../src/model/schedule/recipients.js';

const letters = (extra: string) => fc.constantFrom(...`abcxyz019${extra}`);
const word = fc.array(letters(''), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
const tag = fc.option(
  fc.array(letters('+.-_'), { maxLength: 6 }).map((parts) => parts.join('')),
  { nil: null },
);
const anyCase = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((one, at) => (upper[at] === true ? one.toUpperCase() : one)).join(''));
const written = (local: string, domain: string): fc.Arbitrary<string> =>
  tag.chain((suffix) => anyCase(`${local}${suffix === null ? '' : `+${suffix}`}@${domain}`));
const ofGmail = (local: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.boolean(), { minLength: local.length, maxLength: local.length }),
      fc.constantFrom('gmail.com', 'googlemail.com'),
    )
    .chain(([dots, domain]) =>
      written([...local].map((one, at) => (dots[at] === true && at > 0 ? `.${one}` : one)).join(''), domain),
    );

describe('addresses of one mailbox', () => {
  test('differ in case, in what follows a plus, and at Gmail in dots: however they are written, it is one', () => {
    fc.assert(
      fc.property(
        word.chain((local) => fc.tuple(fc.constant(local), ofGmail(local), written(local, 'customer.example'))),
        ([local, gmail, other]) => {
          expect(mailboxOf(gmail)).toBe(`${local}@gmail.com`);
          expect(mailboxOf(other)).toBe(`${local}@customer.example`);
        },
      ),
    );
  });

  test('have one canonical address, which is an address, and its own', () => {
    fc.assert(
      fc.property(
        word.chain((local) => fc.oneof(ofGmail(local), written(local, 'a.example'))),
        (address) => {
          const mailbox = mailboxOf(address);
          expect(mailboxOf(mailbox)).toBe(mailbox);
          expect(readAddress(mailbox, ['gmail.com', 'a.example'])).toBe(mailbox);
        },
      ),
    );
  });

  test.each([
    ['a.b@customer.example', 'ab@customer.example'],
    ['ann@customer.example', 'ann@mail.customer.example'],
    ['ann@gmail.com', 'ann@gmail.com.example'],
    ['ann@gmail.com', 'bob@gmail.com'],
    ['+a@customer.example', '+b@customer.example'],
    ['..@gmail.com', '.@gmail.com'],
  ])('are not %s and %s', (one, other) => {
    expect(mailboxOf(one)).not.toBe(mailboxOf(other));
  });
});

describe('mailboxes of a schedule', () => {
  const owner = { dataAppId: 'app', clientId: 'acme' };
  const digest = async (parts: Iterable<unknown>) => JSON.stringify([...parts]);

  test('are each there once, and get mail at the first of their addresses, as written', async () => {
    const addresses = ['A.B+x@Gmail.com', 'pat@partner.example', 'ab@googlemail.com', 'PAT+1@partner.example'];
    const found = await listMailboxes(digest, owner, addresses);
    expect(found.map(({ address }) => address)).toEqual(['A.B+x@Gmail.com', 'pat@partner.example']);
    for (const [index, address] of addresses.entries()) {
      const earlier = await digest(['report-address', 'app', 'acme', address]);
      expect(found.map((mailbox) => isOfMailbox(mailbox, earlier))).toEqual([index % 2 === 0, index % 2 === 1]);
    }
  });

  test('are confirmed where an earlier release confirmed one of their addresses as written', async () => {
    const [mailbox] = await listMailboxes(digest, owner, ['Pat+x@partner.example', 'pat+y@partner.example']);
    if (mailbox === undefined) throw new Error('there is one');
    const known = (id: string, confirmedAt: Date | null): KnownAddress => ({ id, askedAt: null, confirmedAt });
    const find = (rows: Readonly<Record<string, KnownAddress>>) => async (_: unknown, key: string) =>
      rows[String((JSON.parse(key) as readonly string[])[3])];
    const written = known('written', new Date(0));
    const open = known('open', null);
    const ask = (rows: Readonly<Record<string, KnownAddress>>) => findMailbox(find(rows), owner, mailbox);
    expect(await ask({})).toBeUndefined();
    expect(await ask({ 'pat@partner.example': open })).toBe(open);
    expect(await ask({ 'pat@partner.example': open, 'pat+y@partner.example': written })).toBe(written);
    expect(await ask({ 'Pat+x@partner.example': open })).toBeUndefined();
  });
});
