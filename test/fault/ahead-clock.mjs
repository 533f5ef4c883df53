// Loaded by a process before anything else (`--import`): its clock is twenty minutes ahead.
const aheadMs = 20 * 60_000;
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + aheadMs);
    else super(...given);
  }
  static now() {
    return Real.now() + aheadMs;
  }
};
