/** What was erased of a client, in rows. */
export type ErasedClient = {
  readonly dashboards: number;
  readonly embeds: number;
  readonly metrics: number;
  readonly guestMetrics: number;
  readonly guestLayouts: number;
  readonly guestViews: number;
  readonly guestTokens: number;
};

export type ClientStore = {
  /**
   * Everything that the data app holds for the client, in one transaction: afterwards nothing names it. Mints and writes of its
   * guests that are under way at the time leave nothing either.
   */
  readonly erase: (dataAppId: string, clientId: string) => Promise<ErasedClient>;
};
