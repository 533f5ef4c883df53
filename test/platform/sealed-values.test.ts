import { describe, expect, it } from 'vitest';
import { isGatewayCode } from '../../src/gateway/common/wire.js';
import { unavailable } from '../../src/gateway/upstream/unavailable.js';
import { Refusal } from '../../src/model/refusal.js';
import { createSealedValues } from '../../src/platform/keys/sealed-values.js';
import { createSealer, textOfSealed } from '../../src/platform/keys/sealing.js';

const sealer = createSealer(Buffer.alloc(32, 1));
const values = createSealedValues<string>({
  sealer,
  read: (json) => (typeof json === 'string' ? json : undefined),
  isSharedFailure: () => true,
  isCode: isGatewayCode,
  unknownFailure: () => new Refusal('UPSTREAM_UNAVAILABLE', 'unknown'),
});
const passed = (error: Refusal) => values.decodeFailure('key', values.encodeFailure('key', error) ?? '');

describe('a failure that replicas share', () => {
  it('keeps its code, message, reason and the time after which a retry makes sense', () => {
    const error = new Refusal('RATE_LIMITED', 'Too many.', { reason: 'user-limit', retryAfterSeconds: 17 });
    const { code, message, reason, retryAfterSeconds } = passed(error);
    expect([code, message, reason, retryAfterSeconds]).toEqual(['RATE_LIMITED', 'Too many.', 'user-limit', 17]);
    expect(passed(new Refusal('NO_POLICY', 'No.')).retryAfterSeconds).toBeNull();
  });

  it('keeps the delay that the service asked for, within a minute', () => {
    expect(passed(unavailable('mint-failed-elsewhere', null, 12_300)).retryAfterSeconds).toBe(13);
    expect(passed(unavailable('mint-failed-elsewhere', null, 3_600_000)).retryAfterSeconds).toBe(60);
    expect(passed(unavailable('mint-failed-elsewhere', null)).retryAfterSeconds).toBeNull();
  });

  it('a failure of a replica that sends no delay, or a wrong one, has none', () => {
    for (const parts of [
      ['NO_POLICY', 'No.', 'no-policy'],
      ['NO_POLICY', 'No.', 'no-policy', '5'],
      ['NO_POLICY', 'No.', 'no-policy', -1],
    ]) {
      const { code, retryAfterSeconds } = values.decodeFailure(
        'key',
        textOfSealed(sealer.seal(JSON.stringify(parts), 'key:failure')),
      );
      expect([code, retryAfterSeconds]).toEqual(['NO_POLICY', null]);
    }
  });
});
