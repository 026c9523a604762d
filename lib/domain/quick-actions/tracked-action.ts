/** What the quick actions of issues and merge requests have in common. */

import type { IssueFields } from '../../records/issues.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { NotedObject } from '../notes/noteable.ts';
import type { Conversation } from '../notes/subscriptions.ts';
import type { Effect, QuickAction } from './interpret.ts';

/** The fields that quick actions of every kind of object change. */
export type TrackedFields = Pick<
  IssueFields,
  | 'title'
  | 'assigneeIds'
  | 'labelIds'
  | 'milestoneId'
  | 'discussionLocked'
  | 'timeEstimate'
  | 'timeSpent'
  | 'updatedAt'
>;

export interface TrackedStored extends TrackedFields, TrackedAddress {
  readonly id: number;
}

export interface TrackedContext {
  readonly deps: Deps;
  readonly actor: Extract<Actor, { kind: 'user' }>;
  readonly access: ProjectAccess;
  readonly kind: 'issue' | 'merge-request';
  /** Undefined: it is being created. */
  readonly stored: TrackedStored | undefined;
  /** What the actor may do with it, whether or not it exists yet. */
  readonly may: {
    /** Change its title and its state. */
    readonly write: boolean;
    /** Give it labels, a milestone, assignees; lock it. */
    readonly organize: boolean;
    readonly trackTime: boolean;
    readonly comment: boolean;
  };
  /** Whom it can be given to. */
  readonly assignees: ProjectAbility;
  /** Of one that exists. */
  conversation(): Conversation;
  noted(): Promise<NotedObject>;
}

export type TrackedAction = QuickAction<TrackedContext, TrackedFields, TrackedStored>;

/** The kind of object in sentences. */
export const nameOf = ({ kind }: Pick<TrackedContext, 'kind'>): string => kind.replace('-', ' ');

export const mayOrganize = ({ may }: TrackedContext): boolean => may.organize;
export const mayTrackTime = ({ may }: TrackedContext): boolean => may.trackTime;

/** Makes the condition that the object exists, and is such. */
export const storedOf =
  <C extends TrackedContext>() =>
  (isSuch: (stored: NonNullable<C['stored']>) => boolean = () => true) =>
  ({ stored }: C): boolean =>
    stored !== undefined && isSuch(stored as NonNullable<C['stored']>);
export const stored = storedOf<TrackedContext>();

export const all =
  <C>(...conditions: readonly ((context: C) => boolean | Promise<boolean>)[]) =>
  async (context: C): Promise<boolean> => {
    for (const condition of conditions) if (!(await condition(context))) return false;
    return true;
  };

/** Makes effects that are one field, by its name in answers. */
export const settingOf =
  <F extends object>() =>
  <K extends keyof F>([field, name]: readonly [K, string], value: F[K], summary: string): Effect<F> => ({
    summary,
    changes: () => ({ [name as string]: value }),
    fields: () => ({ [field]: value }) as unknown as Partial<F>,
  });
export const setting = settingOf<TrackedFields>();
