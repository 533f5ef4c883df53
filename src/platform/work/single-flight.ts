/** Runs the work of a key once at a time. Callers during the run get the same result or the same error. */
export type SingleFlight<T> = (key: string, work: () => Promise<T>) => Promise<T>;

/** Creates a single flight. Results are not kept after the work has ended. */
export const createSingleFlight = <T>(): SingleFlight<T> => {
  const flights = new Map<string, Promise<T>>();
  const run = async (key: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } finally {
      flights.delete(key);
    }
  };
  return (key, work) => {
    const running = flights.get(key);
    if (running !== undefined) return running;
    const flight = run(key, work);
    flights.set(key, flight);
    return flight;
  };
};
