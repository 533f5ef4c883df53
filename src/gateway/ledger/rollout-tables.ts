/** The tables of roll-outs. */

export type RolloutTables = {
  /** A template's content as it once was, kept once: `version` is the digest of `content`. */
  readonly template_versions: {
    template: string;
    version: string;
    content: string;
    label: string | null;
    recorded_at: Date;
  };
  readonly rollouts: {
    id: string;
    template: string;
    version: string;
    workspace: string;
    /** JSON: the canary, the steps, and what stops it. */
    options: string;
    state: RolloutState;
    created_at: Date;
    updated_at: Date;
  };
  readonly rollout_items: {
    rollout_id: string;
    dashboard_id: string;
    tenant_ref: string;
    cohort: number;
    state: ItemState;
    from_version: string | null;
    /** The content that a rollback restores, with its digest; then the one that is written. */
    before_content: string | null;
    before_digest: string | null;
    after_content: string | null;
    after_digest: string | null;
    conflicts: string | null;
    fault: string | null;
    updated_at: Date;
  };
};

/** Where a roll-out stands. `running` and `rolling-back` without a lease were interrupted, and can be gone on with. */
export type RolloutState = 'running' | 'stopped' | 'finished' | 'rolling-back' | 'rollback-stopped' | 'rolled-back';

/**
 * Where one dashboard of a roll-out stands. `prepared`: its before-image is kept, and it may or may not be written. `current`: there was nothing to
 * write. What begins with `restore` is of a rollback.
 */
export type ItemState =
  | 'waiting'
  | 'prepared'
  | 'applied'
  | 'current'
  | 'conflict'
  | 'missing'
  | 'unknown-base'
  | 'failed'
  | 'restored'
  | 'restore-conflict'
  | 'restore-missing'
  | 'restore-failed';
