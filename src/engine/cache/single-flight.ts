/** Runs work once at a time per key for several callers. The work is aborted when the last caller left. */
import { handled } from '../../model/handled.js';

export type SingleFlight<T> = {
  /**
   * Rejects as the work does, or with the signal's reason; the work continues for the other callers. `isJoined`: the
   * work was running already.
   */
  readonly join: (
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal | undefined,
  ) => { readonly result: Promise<T>; readonly isJoined: boolean };
};

type Flight<T> = { readonly result: Promise<T>; readonly controller: AbortController; waiting: number };

export const createSingleFlight = <T>(): SingleFlight<T> => {
  const flights = new Map<string, Flight<T>>();
  const end = (key: string, flight: Flight<T>): void => {
    if (flights.get(key) === flight) flights.delete(key);
  };
  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const controller = new AbortController();
    const flight: Flight<T> = { result: work(controller.signal), controller, waiting: 0 };
    const ended = (): void => end(key, flight);
    flight.result.then(ended, ended);
    flights.set(key, flight);
    return flight;
  };
  const leave = (key: string, flight: Flight<T>): void => {
    flight.waiting -= 1;
    if (flight.waiting > 0) return;
    // Later callers start new work, because this one ends without a result.
    end(key, flight);
    flight.controller.abort(new DOMException('Nobody waits for it any more.', 'AbortError'));
  };
  return {
    join: (key, work, signal) => {
      const known = flights.get(key);
      const flight = known ?? begin(key, work);
      flight.waiting += 1;
      const result =
        signal === undefined ? flight.result : handled(unlessAborted(flight.result, signal, () => leave(key, flight)));
      return { result, isJoined: known !== undefined };
    },
  };
};

const unlessAborted = <T>(result: Promise<T>, signal: AbortSignal, aborted: () => void): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      aborted();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    const ended = (): void => signal.removeEventListener('abort', abort);
    result.then(resolve, reject).finally(ended);
  });
