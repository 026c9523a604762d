/** Whose events a hook hears of. */
export type HookOwner =
  | { readonly kind: 'project'; readonly id: number }
  | { readonly kind: 'group'; readonly id: number }
  | { readonly kind: 'system' };

/** The switches of hooks, by the names of the REST API. */
export const HOOK_SWITCHES = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'releases_events',
  'subgroup_events',
  'member_events',
  'repository_update_events',
] as const;
export type HookSwitch = (typeof HOOK_SWITCHES)[number];

/** A URL that is called about events of a project, of a group and what is in it, or of the instance. */
export interface HookRecord {
  readonly id: number;
  readonly owner: HookOwner;
  readonly url: string;
  /** Those that are on. */
  readonly switches: readonly HookSwitch[];
  /** Branches whose pushes it hears of: a name or a pattern with `*`. Null: all. */
  readonly branchFilter: string | null;
  readonly verifiesTls: boolean;
  /** Whether it has a token, which is a secret of its own. */
  readonly hasToken: boolean;
  /** Calls that failed since the last one that did not. */
  readonly failures: number;
  /** It is not called before then: ISO 8601. Null: it is called. */
  readonly disabledUntil: string | null;
  readonly createdAt: string;
  readonly version: number;
}

/** A hook that failed so often in a row waits before it is called again, and longer each time. */
export const FAILURES_UNTIL_PAUSE = 4;
/** A hook that failed so often in a row is called no more, until a test of it succeeds. */
export const FAILURES_UNTIL_OFF = 40;

/** A call of a hook: what is sent, and what was answered. */
export interface HookDelivery {
  /** In the order of the changes. */
  readonly id: string;
  readonly hookId: number;
  /** The same for all hooks that hear of the change, and over retries. */
  readonly eventId: string;
  readonly trigger: HookSwitch;
  /** The kind of event, as the header names it: `Push Hook`. */
  readonly event: string;
  /** The JSON that is sent, deflated. */
  readonly payload: Uint8Array;
  readonly state: 'waiting' | 'delivered' | 'failed';
  /** Calls so far. */
  readonly attempts: number;
  readonly createdAt: string;
  /** By which a request says that this call made it; absent: of an earlier release. */
  readonly key?: string;
  /** The hooks whose calls caused the event, one after another; absent: none. */
  readonly causedBy?: readonly number[];
  /** Of the last call; absent: there was none. */
  readonly answer?: HookAnswer;
}

/** What became of a call. */
export interface HookAnswer {
  readonly url: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Its beginning. */
  readonly body: string;
  readonly milliseconds: number;
  /** Why there was no answer. */
  readonly failure?: string;
  readonly at: string;
}

/** How many hooks and active integrations of each kind there are in the instance, beside those of projects. */
export interface HookCounts {
  readonly group: number;
  readonly system: number;
  /** Active integrations of the instance. */
  readonly integrations: number;
}
