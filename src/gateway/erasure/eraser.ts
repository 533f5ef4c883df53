/** One place that holds something of tenants, and how it is erased there. Whoever keeps something of a tenant has one. */

export type ErasureSubject = {
  readonly clientId: string;
  /** Stays: it tells nothing without the installation's key. */
  readonly tenantRef: string;
};

export type Erased = {
  /** How many of what: dashboards, rows, keys. */
  readonly erased: Readonly<Record<string, number>>;
  /** What stays, and why. Names no tenant. */
  readonly left?: readonly string[];
};

export type Eraser = {
  /** As the report names it. */
  readonly where: string;
  /** Safe to repeat: what is gone is not an error. Rejects where it cannot be told that all is gone. */
  readonly erase: (subject: ErasureSubject) => Promise<Erased>;
};
