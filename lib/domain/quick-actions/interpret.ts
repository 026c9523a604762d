/** Runs the quick actions of a text, by a table of those that its kind of object has. */

import type { SystemNote } from '../../records/notes.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { DomainError } from '../errors.ts';
import type { ExtractedAction } from './extract.ts';

/** What actions change, by the names that answers have for it. */
export type Changes = Readonly<Record<string, unknown>>;

/** What a quick action does to an object with these fields; a stored one has more. */
export interface Effect<Fields, Stored extends Fields = Fields> {
  /** A sentence about it. */
  readonly summary?: string;
  /** What it changes, beside what those before it changed. */
  readonly changes?: (soFar: Changes) => Changes;
  /** The fields that it changes, of the object as it is by then. */
  readonly fields?: (before: Fields) => Partial<Fields>;
  /** What is noted of it, where the fields do not tell all of it. */
  readonly notes?: readonly SystemNote[];
  /** What it does after the change, if that is still possible. */
  readonly finish?: (stored: Stored) => Promise<void>;
}

/** A quick action, in the order in which it is declared. */
export interface QuickAction<Context, Fields, Stored extends Fields = Fields> {
  /** The name that answers call it by, and others. */
  readonly names: readonly [string, ...string[]];
  /** Without an argument it does nothing. */
  readonly argument?: 'needed';
  /** Whether the actor may use it, and the object is such that it makes sense. */
  readonly applies: (context: Context) => boolean | Promise<boolean>;
  /** @param argument what stands behind the name, trimmed. @returns undefined where it says nothing that there is */
  readonly effect: (
    context: Context,
    argument: string,
  ) => Effect<Fields, Stored> | undefined | Promise<Effect<Fields, Stored> | undefined>;
}

export interface Interpretation<Fields, Stored extends Fields = Fields> {
  readonly summary: string;
  readonly changes: Changes;
  /** Whether any field changes. */
  readonly changesFields: boolean;
  fields(before: Fields): Partial<Fields>;
  readonly notes: readonly SystemNote[];
  finish(stored: Stored): Promise<void>;
}

/** Actions of one text that are run at the same time: each reads what it names. */
const CONCURRENCY = 8;

/** Runs actions, all of them against the object as it was before the first. */
export async function interpret<Context, Fields extends object, Stored extends Fields>(
  table: readonly QuickAction<Context, Fields, Stored>[],
  context: Context,
  actions: readonly ExtractedAction[],
): Promise<Interpretation<Fields, Stored>> {
  const byName = new Map(table.flatMap((action) => action.names.map((name) => [name, action] as const)));
  const effectOf = async ({ name, argument }: ExtractedAction): Promise<Effect<Fields, Stored>> => {
    const action = byName.get(name);
    if (action === undefined || !(await action.applies(context)))
      return { summary: notApplied(action?.names[0] ?? name) };
    if (argument === '' && action.argument === 'needed') return {};
    return (await action.effect(context, argument)) ?? {};
  };
  const effects: Effect<Fields, Stored>[] = [];
  await mapLimit(CONCURRENCY, [...actions.entries()], async ([i, action]) => {
    effects[i] = await effectOf(action);
  });
  let changes: Changes = {};
  for (const effect of effects) changes = { ...changes, ...effect.changes?.(changes) };
  return {
    summary: effects.flatMap(({ summary }) => summary ?? []).join(' '),
    changes,
    changesFields: effects.some(({ fields }) => fields !== undefined),
    fields: (before) => {
      const changed: Partial<Fields> = {};
      for (const { fields } of effects) Object.assign(changed, fields?.({ ...before, ...changed }));
      return changed;
    },
    notes: effects.flatMap(({ notes = [] }) => notes),
    finish: async (stored) => {
      for (const { finish } of effects) if (finish !== undefined) await whilePossible(() => finish(stored));
    },
  };
}

/** What has become impossible since the actions were judged does nothing: the text has been written by then. */
export async function whilePossible(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
}

export const notApplied = (name: string): string => `Could not apply ${name} command.`;
